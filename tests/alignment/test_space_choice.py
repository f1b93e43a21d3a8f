from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from aninfonce.alignment.closing_flat import close_flat
from aninfonce.alignment.space_choice import choose_space
from aninfonce.distributions import FisherBingham, Uniform
from aninfonce.encoders import SphereHead
from aninfonce.encoders.embedding import Embedding
from aninfonce.losses import AnInfoNCE
from aninfonce.metrics import linear_r2, mean_correlation_coefficient
from aninfonce.processes import PairBatch
from aninfonce.recipe import Closing
from aninfonce.similarities import Anisotropic
from aninfonce.sources.array_source import ArraySource
from aninfonce.spaces import Sphere
from aninfonce.training import Trainer, TrainingConfig, fit, load_fitted

PHI = torch.tensor([0.3, 0.8, 0.97])


def recording(n: int = 6000, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Three autoregressive factors of unit variance, and what is seen of them through a bend."""
    generator = torch.Generator().manual_seed(seed)
    noise = torch.randn(n, 3, generator=generator)
    rows = [noise[0]]
    for step in noise[1:]:
        rows.append(PHI * rows[-1] + (1 - PHI**2).sqrt() * step)
    z = torch.stack(rows)
    mix = torch.randn(3, 6, generator=generator)
    return z, torch.tanh(0.5 * z @ mix) + 0.1 * z @ mix


def settings(**changes):
    recipe = {"steps": 300, "whiten": "scale", "unfold": {"pairs": 2000}, "close": {"pairs": 5000}}
    given = {"dim": 3, "space": "flat", "evaluate_every": 0, "checkpoint_every": 0, "seed": 0}
    recipe |= changes.pop("recipe", {})
    return TrainingConfig.model_validate({**given, "recipe": recipe, **changes})


@pytest.fixture(scope="module")
def seen():
    return recording()


@pytest.mark.parametrize("space", ["flat", "auto"])
def test_factors_of_a_recording_are_found_each_by_itself(seen, space):
    z, x = seen
    found = fit((x[:-1], x[1:]), settings(space=space))
    e = found.embed(x)
    assert linear_r2(z, e).mean > 0.93
    assert mean_correlation_coefficient(z, e).mean > 0.95
    # Columns of unit variance, uncorrelated, in the order of Λ̂.
    assert torch.allclose(torch.cov(e.T), torch.eye(3), atol=0.05)
    assert bool((found.concentration.diff() > 0).all())
    expected = PHI / (1 - PHI**2)
    assert bool(((found.concentration / expected).log().abs() < math.log(1.6)).all())
    if space == "auto":
        assert found.choice is not None
        assert found.choice.space == "flat"
        assert found.choice.radial_spread > found.choice.limit
    assert found.folding is None


def test_a_sphere_is_found(tmp_path):
    generator = torch.Generator().manual_seed(0)
    z = Uniform(Sphere(3)).sample(8000, generator)
    positives = FisherBingham(z, torch.tensor([5.0, 10.0, 25.0])).sample(generator)
    found = fit((z, positives), settings(space="auto", recipe={"steps": 240}), directory=tmp_path)
    assert found.choice is not None
    assert found.choice.space == "sphere"
    assert isinstance(found.encoder.head, SphereHead)
    assert found.folding is not None
    again = load_fitted(tmp_path)
    assert again.choice == found.choice
    assert torch.equal(again.embed(z[:9]), found.embed(z[:9]))
    assert linear_r2(z, found.embed(z)).mean > 0.98


@pytest.mark.parametrize("stop_after", [80, 200])
def test_a_run_whose_space_is_found_resumes_exactly(seen, tmp_path, stop_after):
    _, x = seen
    config = settings(space="auto", checkpoint_every=40, recipe={"steps": 240})
    whole = fit((x[:-1], x[1:]), config)
    trainer = Trainer((x[:-1], x[1:]), config, directory=tmp_path)
    save = trainer.save

    class Killed(Exception):
        pass

    def save_and_die():
        path = save()
        if trainer.step >= stop_after:
            raise Killed
        return path

    trainer.save = save_and_die
    with pytest.raises(Killed):
        trainer.fit()
    resumed = fit((x[:-1], x[1:]), config, directory=tmp_path, resume=True)
    assert resumed.choice == whole.choice
    assert torch.equal(resumed.embed(x), whole.embed(x))
    assert torch.equal(resumed.concentration, whole.concentration)


def test_closing_changes_no_similarity_and_no_potential(seen):
    _, x = seen
    generator = torch.Generator().manual_seed(1)
    last = nn.Linear(6, 3)
    loss = AnInfoNCE(3, initial=torch.tensor([4.0, 0.5, 2.0]), normalize=False, potential=True)
    with torch.no_grad():
        for weight in (*last.parameters(), *loss.potentials.parameters()):
            weight.copy_(0.5 * torch.randn(weight.shape, generator=generator))
    embedding = Embedding(last, nn.Identity())
    source = ArraySource(PairBatch(x[:-1], x[1:]), 0)
    before = loss(embedding(x[:500]), embedding(x[1:501])).item()
    found = close_flat(embedding, last, loss, source, Closing(pairs=5000))
    assert loss(embedding(x[:500]), embedding(x[1:501])).item() == pytest.approx(before, rel=1e-5)
    assert isinstance(loss.similarity, Anisotropic)
    assert torch.allclose(loss.concentration.double(), found)
    assert torch.allclose(torch.cov(embedding(x).T), torch.eye(3), atol=0.05)


@pytest.mark.parametrize("d", [2, 5, 20])
def test_shells_are_told_from_clouds(d):
    generator = torch.Generator().manual_seed(d)
    cloud, box = torch.randn(8000, d, generator=generator), torch.rand(8000, d, generator=generator)
    shell = cloud / cloud.norm(dim=1, keepdim=True)
    bend = torch.randn(d, d, generator=generator) + 2 * torch.eye(d)
    noise = 0.1 * d**-0.5 * torch.randn(8000, d, generator=generator)
    assert choose_space((shell + noise) @ bend + 3.0).space == "sphere"
    for filled in (cloud, box, torch.distributions.StudentT(5.0).sample((8000, d))):
        assert choose_space(filled @ bend - 1.0).space == "flat"


def test_what_is_too_little_to_tell_is_flat():
    assert choose_space(torch.randn(500, 1)).space == "flat"
    assert choose_space(torch.randn(30, 3)).space == "flat"


def test_one_column_is_enough_in_flat_space(seen):
    z, x = seen
    found = fit((x[:-1], x[1:]), settings(dim=1, space="auto", recipe={"steps": 150}))
    assert found.config.space == "flat"
    assert linear_r2(found.embed(x), z).per_dimension[0] > 0.8
    with pytest.raises(ValueError, match="`dim` must be at least 2 on the sphere"):
        fit((x[:-1], x[1:]), settings(dim=1, space="sphere"))


def test_losses_without_axes_keep_the_sphere(seen):
    _, x = seen
    trainer = Trainer((x[:-1], x[1:]), settings(space="auto", loss="infonce"))
    assert trainer.config.space == "sphere"


def test_the_potential_can_be_left_out(seen):
    _, x = seen
    loss = {"name": "aninfonce", "options": {"potential": False}}
    assert len(Trainer((x[:-1], x[1:]), settings(loss=loss)).loss.potentials) == 0
    assert len(Trainer((x[:-1], x[1:]), settings()).loss.potentials) == 1
