"""Value, gradients and identities of `info_nce` in every mode."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from aninfonce.functional import info_nce, info_nce_components
from aninfonce.losses.kernel.candidates import candidate_lse, dense_lse
from aninfonce.losses.kernel.probes import Probes
from aninfonce.similarities import Anisotropic, Dot, FullAnisotropic, NegativeLp, Scaled
from tests.losses import loop_reference as loops

N, D, K, M = 6, 3, 2, 4
CANDIDATES = ("anchors", "anchors+self", "positives", "both")
LOGITS = {"anchors": N, "anchors+self": N + 1, "positives": N, "both": 2 * N - 1}


def draw(*shape, seed=0, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def views(dtype=torch.float64):
    return draw(N, D, seed=1, dtype=dtype), draw(N, D, seed=2, dtype=dtype)


LAMBDA = torch.tensor([0.5, 2.0, 3.5], dtype=torch.float64)
SIMILARITIES = {
    "dot": (Dot(), loops.dot),
    "lp1": (NegativeLp(1), loops.negative_lp(1)),
    "lp2": (NegativeLp(2), loops.negative_lp(2)),
    "lp3": (NegativeLp(3), loops.negative_lp(3)),
    "lp1.5": (NegativeLp(1.5), loops.negative_lp(1.5)),
    "anisotropic": (Anisotropic(D, LAMBDA), loops.anisotropic(LAMBDA.tolist())),
    "softplus": (Anisotropic(D, LAMBDA, "softplus"), loops.anisotropic(LAMBDA.tolist())),
    "full": (FullAnisotropic(D, LAMBDA), loops.anisotropic(LAMBDA.tolist())),
    "scaled": (Scaled(D, LAMBDA), loops.scaled(LAMBDA.tolist())),
    "function": (lambda q, r: q @ r.T, loops.dot),
}


class Bilinear(torch.nn.Module):
    """A user's own similarity: a plain module without `pair` or `factor`."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(draw(D, D, seed=9))

    def forward(self, q, r):
        return torch.tanh(q @ self.weight @ r.T)


@pytest.mark.parametrize(
    ("candidates", "negatives"),
    [(c, n) for c in (*CANDIDATES, "none") for n in (None, "per anchor", "shared") if c != "none" or n],
)
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("name", SIMILARITIES)
def test_value_equals_loops(name, candidates, symmetric, negatives):
    similarity, by_loop = SIMILARITIES[name]
    z0, z1 = views()
    extra = {None: None, "per anchor": draw(N, K, D, seed=3), "shared": draw(M, D, seed=4)}[negatives]
    expected = loops.info_nce_rows(
        z0.tolist(),
        z1.tolist(),
        None if extra is None else extra.tolist(),
        similarity=by_loop,
        temperature=0.7,
        symmetric=symmetric,
        candidates=candidates,
    )
    options = {"similarity": similarity, "temperature": 0.7, "symmetric": symmetric, "candidates": candidates}
    rows = torch.tensor([a + u for a, u in expected], dtype=torch.float64)
    torch.testing.assert_close(info_nce(z0, z1, extra, **options, reduction="none"), rows)
    torch.testing.assert_close(info_nce(z0, z1, extra, **options), rows.mean())
    torch.testing.assert_close(info_nce(z0, z1, extra, **options, reduction="sum"), rows.sum())
    parts = info_nce_components(z0, z1, extra, **options)
    torch.testing.assert_close(parts.alignment, torch.tensor([a for a, _ in expected]).double().mean())
    torch.testing.assert_close(parts.uniformity, torch.tensor([u for _, u in expected]).double().mean())


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("candidates", CANDIDATES)
def test_potential_and_normalisation_equal_loops(candidates, symmetric):
    z0, z1 = views()
    negatives = draw(N, K, D, seed=3)
    slope, curve = draw(D, seed=5), draw(D, seed=6)
    expected = loops.info_nce_rows(
        z0.tolist(),
        z1.tolist(),
        negatives.tolist(),
        candidates=candidates,
        symmetric=symmetric,
        normalize=True,
        potentials=(
            lambda z: loops.dot(slope.tolist(), z),
            lambda z: loops.dot(curve.tolist(), [x * x for x in z]),
        ),
    )
    value = info_nce(
        z0,
        z1,
        negatives,
        candidates=candidates,
        symmetric=symmetric,
        normalize=True,
        potential=(lambda z: z @ slope, lambda z: z.square() @ curve),
    )
    assert value.item() == pytest.approx(loops.mean(a + u for a, u in expected), abs=1e-12)


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("candidates", ["anchors", "positives", "both", "none"])
def test_log_ratio_equals_loops(candidates, shared, count):
    z0, z1 = views()
    negatives = draw(count, D, seed=4) if shared else draw(N, count, D, seed=3)
    of_negatives, of_positives = draw(*negatives.shape[:-1], seed=5), draw(N, seed=6)
    expected = loops.mixed_rows(
        *(t.tolist() for t in (z0, z1, negatives, of_negatives, of_positives)), candidates
    )
    options = {
        "candidates": candidates,
        "negatives_log_ratio": of_negatives,
        "positives_log_ratio": of_positives,
    }
    rows = info_nce(z0, z1, negatives, **options, reduction="none")
    torch.testing.assert_close(rows, torch.tensor(expected, dtype=torch.float64))
    assert info_nce(z0, z1, negatives, **options).item() == pytest.approx(loops.mean(expected), abs=1e-12)
    leaves = tuple(t.requires_grad_() for t in (z0, z1, negatives))
    assert torch.autograd.gradcheck(lambda a, b, c: info_nce(a, b, c, **options), leaves, fast_mode=True)


@pytest.mark.parametrize(("candidates", "reduction"), [(c, "mean") for c in CANDIDATES] + [("both", "none")])
@pytest.mark.parametrize("name", ["dot", "lp1", "lp2", "lp3", "anisotropic", "full", "scaled", "module"])
def test_all_gradients(name, candidates, reduction):
    similarity = Bilinear() if name == "module" else SIMILARITIES[name][0]
    parameters = tuple(similarity.parameters())
    head = torch.nn.Linear(D, 1).double()
    inputs = (*views(), draw(N, K, D, seed=3), torch.tensor(0.7, dtype=torch.float64))
    inputs = tuple(t.clone().requires_grad_() for t in inputs)

    def loss(z0, z1, negatives, temperature, *_):
        return info_nce(
            z0,
            z1,
            negatives,
            similarity=similarity,
            temperature=temperature,
            candidates=candidates,
            symmetric=True,
            potential=head,
            reduction=reduction,
        )

    assert torch.autograd.gradcheck(
        loss, (*inputs, *parameters, *head.parameters()), fast_mode=candidates != "both"
    )


@pytest.mark.parametrize("name", ["dot", "anisotropic", "lp1", "lp3", "module"])
@pytest.mark.parametrize("panel", [1, 3, 64])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("probed", [False, True])
def test_panels_equal_dense(name, panel, weighted, probed):
    n, m = 13, 26
    similarity = Bilinear() if name == "module" else SIMILARITIES[name][0]
    tensors = [draw(n, D, seed=1), draw(m, D, seed=2), draw(m, seed=3), draw(n, 2, seed=4)]
    weights = draw(n, seed=5).abs()
    scale = torch.tensor(1.3, dtype=torch.float64)
    results = []
    for dense in (False, True):
        leaves = [t.clone().requires_grad_() for t in [*tensors, scale]]
        anchors, candidates, bias, extra, factor = leaves
        if dense:
            rows = dense_lse(similarity(anchors, candidates) * factor + bias, extra, (2, 13))
            value = rows.sum() * 0.7 if weighted else (rows * weights).sum()
        else:
            value = candidate_lse(
                similarity,
                factor,
                anchors,
                candidates,
                bias,
                extra,
                excluded=(2, 13),
                weight=0.7 if weighted else None,
                panel=panel,
                probes=Probes() if probed else None,
            )
            value = value if weighted else (value * weights).sum()
        results.append((value, *torch.autograd.grad(value, [*leaves, *similarity.parameters()])))
    for swept, whole in zip(*results, strict=True):
        torch.testing.assert_close(swept, whole)


@pytest.mark.parametrize("candidates", CANDIDATES)
@pytest.mark.parametrize("name", ["dot", "lp1", "anisotropic"])
def test_constant_embedding_gives_log_of_the_number_of_candidates(name, candidates):
    z = torch.full((N, D), 0.3, dtype=torch.float64)
    similarity = SIMILARITIES[name][0]
    value = info_nce(z, z, similarity=similarity, candidates=candidates, symmetric=True)
    assert value.item() == pytest.approx(math.log(LOGITS[candidates]), abs=1e-12)
    both = info_nce(z, z, torch.full((N, K, D), 0.3).double(), similarity=similarity, candidates=candidates)
    assert both.item() == pytest.approx(math.log(LOGITS[candidates] + K), abs=1e-7)


@pytest.mark.parametrize("candidates", CANDIDATES)
@pytest.mark.parametrize("name", ["dot", "lp1", "anisotropic"])
def test_invariances(name, candidates):
    similarity = SIMILARITIES[name][0]
    z0, z1 = views()
    options = {"similarity": similarity, "candidates": candidates}
    value = info_nce(z0, z1, **options)
    order = torch.randperm(N, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(info_nce(z0[order], z1[order], **options), value)
    torch.testing.assert_close(
        info_nce(z0, z1, **options, symmetric=True), info_nce(z1, z0, **options, symmetric=True)
    )
    if name != "dot":
        shift = 1e4 * torch.ones(D, dtype=torch.float64)
        torch.testing.assert_close(info_nce(z0 + shift, z1 + shift, **options), value)
    if name == "dot":
        rotation = torch.linalg.qr(draw(D, D, seed=7)).Q
        torch.testing.assert_close(info_nce(z0 @ rotation, z1 @ rotation, **options), value)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 9), st.integers(1, 5), st.floats(0.05, 5), st.integers(0, 2**31 - 1))
def test_loss_is_never_negative_and_components_sum_to_it(n, d, temperature, seed):
    z0, z1 = draw(2, n, d, seed=seed, dtype=torch.float32)
    value = info_nce(z0, z1, temperature=temperature, candidates="both", normalize=True)
    parts = info_nce_components(z0, z1, temperature=temperature, candidates="both", normalize=True)
    assert value.item() >= -1e-5
    torch.testing.assert_close(parts.alignment + parts.uniformity, value)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0, 1e3, 1e5])
def test_extreme_logits_in_float32(scale):
    """The shortcut for the row maximum fails here, and the exact one steps in."""
    z0, z1 = (v * scale for v in views(torch.float32))
    for similarity in (Dot(), NegativeLp(2), NegativeLp(1)):
        for candidates in CANDIDATES:
            leaf = z0.clone().requires_grad_()
            value = info_nce(leaf, z1, similarity=similarity, candidates=candidates)
            value.backward()
            exact = info_nce(z0.double(), z1.double(), similarity=similarity, candidates=candidates)
            torch.testing.assert_close(value.double(), exact, rtol=1e-4, atol=1e-5)
            assert leaf.grad.isfinite().all()


def test_far_away_candidates_do_not_underflow():
    """Every negative and the positive lie hundreds below the bound that the shift starts from."""
    z0 = torch.eye(4) * 30
    value = info_nce(z0, -z0, candidates="positives")
    expected = math.log(math.exp(0) * 3 + math.exp(-900)) + 900
    assert value.item() == pytest.approx(expected, rel=1e-6)


def test_no_second_derivative_is_said_clearly():
    z0, z1 = (v.requires_grad_() for v in views())
    for reduction in ("mean", "none"):
        value = info_nce(z0, z1, reduction=reduction).sum()
        with pytest.raises(RuntimeError, match="first derivatives only"):
            torch.autograd.grad(value, z0, create_graph=True)


@pytest.mark.parametrize("name", ["dot", "lp1", "module", "function"])
@pytest.mark.parametrize("candidates", [*CANDIDATES, "none"])
def test_a_kept_graph_serves_any_number_of_times(name, candidates):
    """Gradients that end in leaves may be kept as `.grad` and added to: the graph must not share them."""
    similarity = Bilinear() if name == "module" else SIMILARITIES[name][0]
    leaves = [t.requires_grad_() for t in (*views(), draw(M, D, seed=4))]
    value = info_nce(*leaves, similarity=similarity, candidates=candidates)
    once = torch.autograd.grad(value, leaves, retain_graph=True)
    for times in (1, 2, 3):
        value.backward(retain_graph=True)
        for leaf, gradient in zip(leaves, once, strict=True):
            torch.testing.assert_close(leaf.grad, times * gradient)


def test_needs_no_gradient_and_backward_twice():
    z0, z1 = views()
    assert not info_nce(z0, z1).requires_grad
    z0.requires_grad_()
    value = info_nce(z0, z1)
    value.backward(retain_graph=True)
    once = z0.grad.clone()
    value.backward()
    torch.testing.assert_close(z0.grad, 2 * once)


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize(
    ("candidates", "symmetric"),
    [("anchors", False), ("positives", False), ("positives", True), ("both", True), ("anchors", True)],
)
def test_the_usual_call_and_the_long_way_give_the_same(
    monkeypatch, candidates, symmetric, normalize, reduction
):
    """A small batch without extras is told apart early; a row of zeros or of NaN is not lost by that."""
    generator = torch.Generator().manual_seed(0)
    z0, z1 = 0.5 * torch.randn(2, 40, 3, generator=generator)
    options = {
        "similarity": Anisotropic(3, initial=torch.tensor([1.0, 2.0, 3.0])),
        "candidates": candidates,
        "symmetric": symmetric,
        "normalize": normalize,
        "reduction": reduction,
        "temperature": 0.7,
    }

    def found() -> list[torch.Tensor]:
        leaves = [z0.clone().requires_grad_(), z1.clone().requires_grad_()]
        value = info_nce(*leaves, **options)
        return [value.detach(), *torch.autograd.grad(value, leaves)]

    z0[3] = 0.0
    quick = found()
    monkeypatch.setattr("aninfonce.losses.functional.plain_loss", lambda *_: None)
    torch.testing.assert_close(quick, found())
    monkeypatch.undo()
    z1[5, 1] = torch.nan
    with pytest.raises(ValueError, match="`z1` must be finite"):
        found()
