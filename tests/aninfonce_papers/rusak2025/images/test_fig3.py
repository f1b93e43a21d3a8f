"""Scores of embeddings whose worth is known: a decoder that writes latents into pixels."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from aninfonce_papers.engine import find_study, plan

DIM, SIDE, PER_CLASS = 10, 6, 12


class Writing(nn.Module):
    """Stands for a VAE: its first pixels are the latents."""

    dim = DIM

    def decode(self, latents):
        pixels = torch.zeros(len(latents), SIDE * SIDE)
        pixels[:, :DIM] = latents
        return pixels.view(-1, 1, SIDE, SIDE)


def latents(x):
    """Read what `Writing` wrote; latents of length 1 are decoded at √d."""
    return x[:, :DIM] / DIM**0.5


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """Images in the format of MNIST whose class is the pixel that is bright."""
    folder = tmp_path_factory.mktemp("digits")
    rng = np.random.default_rng(0)
    for name in ("train", "t10k"):
        labels = rng.permutation(np.repeat(np.arange(10, dtype=np.uint8), PER_CLASS))
        pixels = rng.integers(0, 40, (len(labels), SIDE * SIDE), dtype=np.uint8)
        pixels[np.arange(len(labels)), labels] = 255
        for kind, shape, values in (
            ("images-idx3", (len(labels), SIDE, SIDE), pixels),
            ("labels-idx1", (len(labels),), labels),
        ):
            header = bytes([0, 0, 8, len(shape)]) + b"".join(side.to_bytes(4, "big") for side in shape)
            (folder / f"{name}-{kind}-ubyte").write_bytes(header + values.tobytes())
    return folder


def score(digits, monkeypatch, embed, cell="AnInfoNCE Λ₂=25", concentration=None):
    history = [{"step": 2, "r2": 0.25}, {"step": 3, "r2": 0.5, "concentration": [1.0] * DIM}]
    fitted = SimpleNamespace(embed=embed, concentration=concentration, history=history)
    world = "aninfonce_papers.rusak2025.images.world"
    monkeypatch.setattr(f"{world}.fit", lambda *_, **__: fitted)
    monkeypatch.setattr(f"{world}.train_vae", lambda *_, **__: Writing())
    (task,) = plan([find_study("fig3")], "smoke", only=[cell], changes={"pairs.dataset": str(digits)})
    return task.experiment.run(0)


def test_an_encoder_that_reads_the_latents_scores_one(digits, monkeypatch):
    found = score(digits, monkeypatch, lambda x: 3 * latents(x).flip(1) + 1)
    for name in ("R²", "style", "content"):
        assert found[name] == pytest.approx(1.0, abs=1e-6)
    assert found["kNN accuracy"] == 1.0
    assert found["curves"] == {"steps": [2, 3], "r2": [0.25, 0.5]}
    assert "error of Λ̂" not in found


def test_a_constant_scores_nothing(digits, monkeypatch):
    found = score(digits, monkeypatch, lambda x: torch.ones(len(x), DIM))
    for name in ("R²", "style", "content"):
        assert found[name] == pytest.approx(0.0, abs=0.01)
    assert found["kNN accuracy"] < 0.3


def test_embeddings_of_other_images_score_nothing(digits, monkeypatch):
    def shuffled(x):
        return latents(x)[torch.randperm(len(x), generator=torch.Generator().manual_seed(0))]

    found = score(digits, monkeypatch, shuffled)
    assert abs(found["R²"]) < 0.05
    assert found["kNN accuracy"] < 0.3


@pytest.mark.parametrize(("kept", "columns"), [("style", slice(0, 5)), ("content", slice(5, 10))])
def test_what_is_kept_is_told_by_parts(digits, monkeypatch, kept, columns):
    """Coordinates on a sphere depend on each other by squares alone: no line reads one off the others."""
    lost = {"style": "content", "content": "style"}[kept]
    found = score(digits, monkeypatch, lambda x: latents(x)[:, columns])
    assert found[kept] == pytest.approx(1.0, abs=1e-6)
    assert abs(found[lost]) < 0.05
    assert found["R²"] == pytest.approx(0.5, abs=0.03)
    # Five of ten bright pixels are seen; the others look alike.
    assert 0.45 < found["kNN accuracy"] < 0.75


def test_the_error_of_the_concentration_is_relative_and_of_sorted_values(digits, monkeypatch):
    truth = torch.linspace(5.0, 50.0, DIM)
    found = score(digits, monkeypatch, latents, cell="AnInfoNCE Λ=5…50", concentration=1.1 * truth.flip(0))
    assert found["error of Λ̂"] == pytest.approx(0.1, abs=1e-6)
    assert found["Λ̂"] == pytest.approx((1.1 * truth).tolist(), abs=1e-4)
    # Ten different Λ have no two parts; the curve of Λ̂ starts where there is one.
    assert not {"style", "content"} & set(found)
    assert found["curves"]["steps"] == [3]
