"""A critic that is not symmetric: equal to plain loops, with exact gradients, and right where things turn."""

import math

import pytest
import torch

from aninfonce.losses import AnInfoNCE, CandidatePotential, LinearDynamics
from tests.losses import loop_reference as loops
from tests.losses.moved import check_half_precision, draw, moved

N, D, K = 6, 3, 2


def dynamics(**settings):
    return moved(LinearDynamics(D, **settings))


def by_loops(loss):
    operator, offset = loss.operator.tolist(), loss.similarity.offset.tolist()

    def similarity(a, b):
        steps = [sum(a[i] * operator[i][j] for i in range(D)) + offset[j] - b[j] for j in range(D)]
        return -0.5 * sum(step**2 for step in steps)

    return similarity


@pytest.mark.parametrize("candidates", ["anchors", "anchors+self", "positives", "both"])
@pytest.mark.parametrize("negatives", [None, "per anchor", "shared"])
def test_value_equals_loops(candidates, negatives):
    loss = dynamics(candidates=candidates, temperature=0.7, reduction="none")
    z0, z1 = draw(N, D, seed=1), draw(N, D, seed=2)
    extra = {None: None, "per anchor": draw(N, K, D, seed=3), "shared": draw(K, D, seed=4)}[negatives]
    beta = loss.potentials[0]
    expected = loops.info_nce_rows(
        z0.tolist(),
        z1.tolist(),
        None if extra is None else extra.tolist(),
        similarity=by_loops(loss),
        temperature=0.7,
        candidates=candidates,
        potentials=(lambda row: beta(torch.tensor([row], dtype=torch.float64)).item(), None),
    )
    torch.testing.assert_close(loss(z0, z1, extra), torch.tensor([a + u for a, u in expected]).double())
    alignment, uniformity = loss.components(z0, z1, extra)
    torch.testing.assert_close(torch.stack([alignment, uniformity], dim=1), torch.tensor(expected).double())


@pytest.mark.parametrize("candidates", ["anchors", "positives", "both"])
def test_all_gradients(candidates):
    loss = dynamics(candidates=candidates, potential=CandidatePotential(D, width=4))
    leaves = tuple(draw(N, D, seed=seed).requires_grad_() for seed in (1, 2))
    parameters = tuple(loss.parameters())
    assert torch.autograd.gradcheck(lambda a, b, *_: loss(a, b), (*leaves, *parameters), fast_mode=False)


def test_it_starts_as_the_distance_and_knows_the_way():
    z0, z1 = draw(N, D, seed=1), draw(N, D, seed=2)
    fresh = LinearDynamics(D).double()
    torch.testing.assert_close(fresh(z0, z1), AnInfoNCE(D, normalize=False)(z0, z1))
    loss = dynamics()
    assert not torch.allclose(loss(z0, z1), loss(z1, z0))


class Beta(torch.nn.Module):
    """A potential that is known."""

    def __init__(self, bend):
        super().__init__()
        self.bend = bend

    def forward(self, rows):
        return self.bend * rows.square().sum(dim=1)


def test_the_optimum_of_rows_that_turn_is_the_log_ratio():
    """z⁺ = Az + noise, z of unit variance, h = z in units of the noise: M = Aᵀ, and no other is as good."""
    angle, size = 1.2, 0.8
    turn = torch.tensor([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]).double()
    z = draw(1000, 2, seed=1)
    noise = math.sqrt(1 - size**2)
    z_pos = z @ (size * turn).T + noise * draw(1000, 2, seed=2)

    def value(operator):
        # What is left of log p(z⁺|z)/p(z⁺) = −½‖h⁺ − Ah‖² + ½‖z⁺‖² is β's.
        beta = Beta(0.5 * (1 - size**2))
        loss = LinearDynamics(2, candidates="positives", potential=beta).double()
        with torch.no_grad():
            loss.operator.copy_(operator)
        return loss(z / noise, z_pos / noise).item()

    truth = size * turn.T
    best = value(truth)
    for other in (truth.T, 0.5 * (truth + truth.T), 0.9 * truth, 1.1 * truth):
        assert value(other) > best


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_input_is_computed_in_float32(dtype):
    check_half_precision(dynamics().float(), *(draw(N, D, seed=seed).to(dtype) for seed in (1, 2)))


def test_double_stays_double():
    z0, z1 = draw(N, D, seed=1), draw(N, D, seed=2)
    assert dynamics()(z0, z1).dtype == torch.float64


@pytest.mark.parametrize("width", [1, 2, 4])
def test_another_width_is_refused_by_name(width):
    with pytest.raises(ValueError, match=r"`z0` must have 3 column"):
        LinearDynamics(D)(torch.zeros(N, width), torch.zeros(N, width))


def test_no_second_direction():
    with pytest.raises(ValueError, match="`symmetric`"):
        LinearDynamics(D, symmetric=True)


def test_param_groups_hold_every_parameter_once():
    loss = LinearDynamics(D)
    groups = loss.param_groups(0.1)
    assert {id(p) for group in groups for p in group["params"]} == {id(p) for p in loss.parameters()}
    assert len(groups[0]["params"]) == 2
    assert not list(LinearDynamics(D, potential=False).potentials)
