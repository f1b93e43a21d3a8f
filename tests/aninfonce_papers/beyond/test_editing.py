"""Scores of edits: exact for the true latents, nothing for an encoder that has lost what is edited."""

import pytest
import torch

from aninfonce.processes import process
from aninfonce_papers.beyond.editing import PARTS, explained, measure, swap_scores, swapped

STYLE, CONTENT = PARTS["style"], PARTS["content"]


@pytest.fixture(scope="module")
def world():
    """Latents seen as they are; the first five vary more within pairs."""
    return process("fig2/25", mixing="identity")


def scores(world, embed):
    found = measure(world, embed, 2_000, seed=0)
    return {name: value for name, value in found.items() if name != "pictures"}


def test_true_latents_edit_exactly(world):
    assert min(scores(world, lambda x: x).values()) > 0.98


def test_any_linear_view_of_the_latents_will_do(world):
    matrix = torch.randn(10, 10, generator=torch.Generator().manual_seed(0))
    assert min(scores(world, lambda x: 3.0 + x @ matrix).values()) > 0.98


def test_a_constant_encoder_edits_nothing(world):
    assert max(scores(world, lambda x: torch.ones(len(x), 4)).values()) < 0.01


def test_lost_style_neither_arrives_nor_stays(world):
    """Content in ten columns, some of them no linear function of it, as InfoNCE leaves it."""
    matrix = torch.randn(5, 5, generator=torch.Generator().manual_seed(0))

    def embed(x):
        content = x[:, CONTENT]
        return torch.cat([content, torch.tanh(3.0 * content @ matrix)], dim=1)

    found = scores(world, embed)
    assert found["style swapped: arrives"] < 0.05
    assert found["content swapped: the rest stays"] < 0.05


def test_scores_of_edits_by_hand():
    one, other = torch.nn.functional.normalize(
        torch.randn(2, 5_000, 10, generator=torch.Generator().manual_seed(1)), dim=-1
    )
    ideal = swapped(one, other, CONTENT)
    assert torch.allclose(ideal.norm(dim=1), torch.ones(5_000), atol=1e-5)
    assert swap_scores(ideal, one, other, CONTENT) == pytest.approx((1.0, 1.0), abs=1e-6)
    # Nothing was swapped: all stays, up to the length, and nothing arrives.
    arrives, stays = swap_scores(one, one, other, CONTENT)
    assert arrives == 0.0
    assert 0.8 < stays < 1.0
    # Everything was swapped.
    arrives, stays = swap_scores(other, one, other, CONTENT)
    assert stays == 0.0
    assert 0.8 < arrives < 1.0
    assert explained(torch.zeros(5_000, 10), ideal) < 0.01
