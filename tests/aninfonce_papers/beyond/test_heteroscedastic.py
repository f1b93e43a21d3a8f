"""Scores of embeddings whose worth is known, inside and outside of where anchors are."""

import math
from types import SimpleNamespace

import pytest
import torch

from aninfonce.losses import AnInfoNCE
from aninfonce_papers.beyond.heteroscedastic import PlacePairs, PlaceScore, r2_elsewhere
from aninfonce_papers.engine.on_process import Outcome


def measured(embed, loss=None):
    """Score what `embed` makes of the latents, found again through the inverse of the mixing."""
    process, score = PlacePairs(candidates=10).open(0), PlaceScore(test_pairs=4_000)
    fitted = SimpleNamespace(
        embed=lambda x: embed(process.mixing.inverse(x)),
        loss=loss,
        history=[{"held_out_loss": 2.0}, {"held_out_loss": 0.123456}, {"step": 7}],
    )
    return score.measure(Outcome(process, fitted, score.fresh(process, 0), 0))


def test_the_latents_themselves_score_one_everywhere():
    found = measured(lambda z: 3 * z.flip(1) - 1, AnInfoNCE(4, initial=2.0))
    for name in ("R²", "R² outside", "mean correlation"):
        assert found[name] == pytest.approx(1.0, abs=1e-4)
    # One Λ̂ for all rows is the same at both ends; the loss is the last that was measured.
    assert found["Λ̂ varies by"] == 1.0
    assert found["held-out loss"] == 0.12346


def test_a_constant_scores_nothing():
    found = measured(torch.ones_like)
    assert found["R²"] == pytest.approx(0.0, abs=0.01)
    assert found["R² outside"] == pytest.approx(0.0, abs=0.01)
    assert "Λ̂ varies by" not in found


def test_what_is_right_inside_alone_is_wrong_outside():
    """Latents that are cut off at the walls of the cube, √3: nothing is lost in it, and much beyond it."""
    found = measured(lambda z: z.clamp(-(3**0.5), 3**0.5))
    assert found["R²"] == pytest.approx(1.0, abs=1e-4)
    assert 0.5 < found["R² outside"] < 0.97


def test_half_of_the_latents_score_a_half():
    assert measured(lambda z: z[:, :2])["R²"] == pytest.approx(0.5, abs=0.02)


def test_r2_elsewhere_by_hand():
    """Fitted on z = e, read where z = e + 1 around a mean of 5: the error is 1, the spread ⅔."""
    e = torch.tensor([[0.0], [1.0], [2.0]])
    far = torch.tensor([[3.0], [4.0], [5.0]])
    assert r2_elsewhere(e, e, far + 1, far) == pytest.approx(1 - 1 / (2 / 3))


def test_concentrations_that_vary_are_told_by_their_ends():
    """log Λ̂ of slope ½ along a column that is uniform on ±√3: 95 % of the rows span .95 · 2√3 of it."""
    loss = AnInfoNCE(4, concentration="per-anchor", normalize=False)
    first, _, last = loss.similarity.layers
    with torch.no_grad():
        for weight in loss.parameters():
            weight.zero_()
        assert measured(lambda z: z, loss)["Λ̂ varies by"] == 1.0
        # So far to the right, GELU changes nothing, and what it is moved by is taken off again.
        first.weight[0, 0], first.bias[0], last.weight[:, 0], last.bias[:] = 1.0, 20.0, 0.5, -10.0
    expected = math.exp(0.5 * 0.95 * 2 * math.sqrt(3))
    assert measured(lambda z: z, loss)["Λ̂ varies by"] == pytest.approx(expected, rel=0.05)
