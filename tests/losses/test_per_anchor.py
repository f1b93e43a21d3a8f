"""A Λ̂ for each anchor: equal to plain loops, with exact gradients, and right where Λ varies."""

import copy
import math

import pytest
import torch

from aninfonce.functional import info_nce
from aninfonce.losses import AnInfoNCE, CandidatePotential
from aninfonce.losses import terms as losses_terms
from aninfonce.similarities import Anisotropic, PerAnchor
from tests.losses import loop_reference as loops
from tests.losses.moved import check_half_precision, draw, moved

N, D, K = 6, 3, 2


def per_anchor(by=0.3, **settings):
    return moved(AnInfoNCE(D, concentration="per-anchor", **settings), by)


def by_loops(loss):
    """The head by plain floats: two layers, a bound, an exponential."""
    raw = loss.similarity.raw.tolist()
    first, _, last = loss.similarity.layers
    weights = [(layer.weight.tolist(), layer.bias.tolist()) for layer in (first, last)]

    def similarity(a, b):
        (w, c), (v, e) = weights
        hidden = [loops.dot(row, a) + shift for row, shift in zip(w, c, strict=True)]
        hidden = [x * 0.5 * (1 + math.erf(x / math.sqrt(2))) for x in hidden]
        shares = [
            4 * math.tanh((loops.dot(row, hidden) + shift) / 4) for row, shift in zip(v, e, strict=True)
        ]
        concentration = [math.exp(r + share) for r, share in zip(raw, shares, strict=True)]
        return loops.anisotropic(concentration)(a, b)

    return similarity


@pytest.mark.parametrize("candidates", ["anchors", "anchors+self", "positives", "both"])
@pytest.mark.parametrize("negatives", [None, "per anchor", "shared"])
@pytest.mark.parametrize(("symmetric", "normalize"), [(False, False), (True, False), (False, True)])
def test_value_equals_loops(candidates, negatives, symmetric, normalize):
    options = {"candidates": candidates, "temperature": 0.7, "symmetric": symmetric, "normalize": normalize}
    loss = per_anchor(**options, reduction="none", potential=True)
    z0, z1 = draw(N, D, seed=1), draw(N, D, seed=2)
    extra = {None: None, "per anchor": draw(N, K, D, seed=3), "shared": draw(K, D, seed=4)}[negatives]
    betas = [
        lambda row, beta=beta: beta(torch.tensor([row], dtype=torch.float64)).item()
        for beta in (loss.potentials[0], loss.potentials[-1])
    ]
    expected = loops.info_nce_rows(
        z0.tolist(),
        z1.tolist(),
        None if extra is None else extra.tolist(),
        similarity=by_loops(loss),
        potentials=betas,
        **options,
    )
    torch.testing.assert_close(loss(z0, z1, extra), torch.tensor([a + u for a, u in expected]).double())
    alignment, uniformity = loss.components(z0, z1, extra)
    torch.testing.assert_close(torch.stack([alignment, uniformity], dim=1), torch.tensor(expected).double())


@pytest.mark.parametrize("settings", [{}, {"candidates": "both", "symmetric": True}, {"normalize": True}])
def test_all_gradients(settings):
    loss = AnInfoNCE(D, **{"concentration": "per-anchor", "normalize": False, **settings})
    loss.similarity = PerAnchor(D, width=4)
    moved(loss)
    leaves = tuple(draw(N, D, seed=seed).requires_grad_() for seed in (1, 2))
    parameters = tuple(loss.parameters())
    assert len(parameters) == 5
    assert torch.autograd.gradcheck(lambda a, b, *_: loss(a, b), (*leaves, *parameters), fast_mode=False)


def test_it_starts_as_one_for_all():
    z0, z1 = draw(N, D, seed=1), draw(N, D, seed=2)
    start = torch.tensor([0.5, 2.0, 3.0], dtype=torch.float64)
    fresh, one = (AnInfoNCE(D, concentration=how, initial=start).double() for how in ("per-anchor", "one"))
    torch.testing.assert_close(fresh(z0, z1), one(z0, z1))
    torch.testing.assert_close(fresh.concentration, start)
    for loss in (fresh, one):
        torch.testing.assert_close(loss.concentration_at(z0), start.expand(N, -1))


def test_each_anchor_has_the_distance_that_its_own_number_gives():
    """Rows of the matrix are those of `Anisotropic` with the anchor's Λ̂."""
    similarity = per_anchor().similarity
    q, r = draw(N, D, seed=1), draw(N + 1, D, seed=2)
    values = similarity.concentration_at(q)
    expected = torch.cat([Anisotropic(D, row)(one[None], r) for row, one in zip(values, q, strict=True)])
    torch.testing.assert_close(similarity(q, r), expected)
    assert float(values.detach().std(dim=0).min()) > 0.01


def test_the_optimum_is_the_log_ratio():
    """z uniform far beyond the steps, Λ(z) = exp(z): no other slope of log Λ̂ is as good."""
    anchors = 4 * torch.rand(2000, 1, generator=torch.Generator().manual_seed(1), dtype=torch.float64) - 2
    positives = anchors + draw(2000, 1, seed=2) / (3 + anchors).exp().sqrt()

    class Known(PerAnchor):
        def _inner(self, h):
            return (3 + slope * h).exp()

    values = {}
    for slope in (0.0, 0.5, 1.0, 1.5):
        values[slope] = info_nce(anchors, positives, similarity=Known(1).double()).item()
    assert min(values, key=values.get) == 1.0


@pytest.mark.parametrize("far", [0.0, 300.0, 3e4])
def test_float32_is_exact_whatever_the_place(far):
    """Two clusters far apart: the expanded square would lose all digits."""
    loss = per_anchor(0.1, normalize=False, potential=True)
    z0 = draw(64, D, seed=1) + far * (torch.arange(64) % 2)[:, None]
    z1 = z0 + 0.3 * draw(64, D, seed=2)
    z0, z1 = z0.float(), z1.float()
    single, double = (copy.deepcopy(loss).to(dtype) for dtype in (torch.float32, torch.float64))
    with torch.no_grad():
        for one, other in zip(single.parameters(), double.parameters(), strict=True):
            other.copy_(one)
    results = []
    for module, dtype in ((single, torch.float32), (double, torch.float64)):
        leaf = z0.to(dtype, copy=True).requires_grad_()
        value = module(leaf, z1.to(dtype))
        value.backward()
        assert value.dtype == dtype
        head = module.similarity.layers[-1].weight.grad
        results.append((value.detach().double(), leaf.grad.double(), head.double()))
    for found, exact in zip(*results, strict=True):
        torch.testing.assert_close(found, exact, rtol=2e-5, atol=2e-5 * float(exact.abs().max()))


def test_the_fast_way_serves_where_embeddings_are_usual(monkeypatch):
    """Logits that lie far below the bound of Cauchy and Schwarz, but not below 0, need no second look."""
    calls, by_rows = [], losses_terms.by_rows
    monkeypatch.setattr(losses_terms, "by_rows", lambda *a: calls.append(a) or by_rows(*a))
    z0 = 3 * draw(512, D, seed=1).float()
    z1 = z0 + draw(512, D, seed=2).float()
    per_anchor(0.02, normalize=False).float()(z0, z1)
    assert len(calls) == 1


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_input_is_computed_in_float32(dtype):
    check_half_precision(per_anchor().float(), *(draw(N, D, seed=seed).to(dtype) for seed in (1, 2)))


def test_one_row_far_away_does_not_overflow():
    loss = per_anchor(normalize=False).float()
    z0, z1 = (draw(N, D, seed=seed).float() for seed in (1, 2))
    z0[0] = 1e6
    assert loss(z0, z1).isfinite()
    assert loss.concentration_at(z0).isfinite().all()


def test_columns_change_and_values_do_not():
    loss = per_anchor(normalize=False, potential=CandidatePotential(D))
    z0, z1, matrix, centre = (draw(*shape, seed=s) for s, shape in enumerate([(N, D), (N, D), (D, D), (D,)]))
    loss.potentials = torch.nn.ModuleList()
    before, metric = loss(z0, z1), loss.similarity.metric_at(z0)
    loss.similarity.change_columns(matrix, centre)
    e0, e1 = ((z - centre) @ matrix.T for z in (z0, z1))
    torch.testing.assert_close(loss(e0, e1), before)
    back = torch.linalg.inv(matrix)
    torch.testing.assert_close(loss.similarity.metric_at(e0), back.T @ metric @ back)
    torch.testing.assert_close(
        loss.concentration_at(e0), loss.similarity.metric_at(e0).diagonal(dim1=1, dim2=2)
    )


def test_state_comes_back():
    loss, other = (
        per_anchor(potential=True),
        AnInfoNCE(D, concentration="per-anchor", potential=True).double(),
    )
    loss.similarity.change_columns(draw(D, D, seed=1), draw(D, seed=2))
    other.load_state_dict(loss.state_dict())
    z0, z1 = draw(N, D, seed=1), draw(N, D, seed=2)
    assert loss(z0, z1) == other(z0, z1)


@pytest.mark.parametrize("width", [1, 2, 4])
def test_another_width_is_refused_by_name(width):
    loss = AnInfoNCE(D, concentration="per-anchor")
    with pytest.raises(ValueError, match=r"`z0` must have 3 column"):
        loss(torch.zeros(N, width), torch.zeros(N, width))


def test_an_unknown_choice_is_refused_by_name():
    with pytest.raises(ValueError, match="`concentration`"):
        AnInfoNCE(D, concentration="both")


def test_param_groups_hold_every_parameter_once():
    loss = AnInfoNCE(D, concentration="per-anchor", potential=True)
    groups = loss.param_groups(0.1)
    held = [id(parameter) for group in groups for parameter in group["params"]]
    assert sorted(held) == sorted(id(parameter) for parameter in loss.parameters())
    assert len(groups[0]["params"]) == 5
