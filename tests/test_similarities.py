"""Every similarity against its definition, and as a `distance=` of pytorch-metric-learning."""

import pytest
import torch

from aninfonce.similarities import (
    Anisotropic,
    Dot,
    FullAnisotropic,
    LinearStep,
    NegativeLp,
    PerAnchor,
    Scaled,
    Similarity,
)
from tests.losses import loop_reference as loops

N, M, D = 5, 4, 3
LAMBDA = torch.tensor([0.5, 2.0, 3.5], dtype=torch.float64)


def rows(n, seed, dtype=torch.float64):
    return torch.randn(n, D, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def skewed():
    """Give a similarity that is not symmetric, and the same by loops."""
    similarity, drawn, scale = LinearStep(D).double(), rows(D + 1, 7), rows(D, 8)
    with torch.no_grad():
        similarity.operator.copy_(drawn[:D])
        similarity.offset.copy_(drawn[D])
        similarity.root.copy_(scale)
    matrix, offset, root = drawn[:D].tolist(), drawn[D].tolist(), scale.tolist()

    def by_loop(a, b):
        steps = [loops.dot(a, [row[j] for row in matrix]) + offset[j] - b[j] for j in range(D)]
        return -0.5 * sum(loops.dot(steps, [row[j] for row in root]) ** 2 for j in range(D))

    return similarity, by_loop


def by_anchor():
    """Give a similarity whose metric depends on the anchor, and the same by loops over its Λ̂."""
    similarity = PerAnchor(D, LAMBDA, width=4).double()
    with torch.no_grad():
        for number, parameter in enumerate(similarity.parameters()):
            drawn = torch.randn(parameter.shape, generator=torch.Generator().manual_seed(number))
            parameter += 0.5 * drawn.double()

    def by_loop(a, b):
        with torch.no_grad():
            values = similarity.concentration_at(torch.tensor(a, dtype=torch.float64)).tolist()
        return loops.anisotropic(values)(a, b)

    return similarity, by_loop


CASES = {
    "dot": (Dot(), loops.dot),
    "lp1": (NegativeLp(1), loops.negative_lp(1)),
    "lp2": (NegativeLp(2), loops.negative_lp(2)),
    "lp3": (NegativeLp(3), loops.negative_lp(3)),
    "lp4": (NegativeLp(4), loops.negative_lp(4)),
    "anisotropic": (Anisotropic(D, LAMBDA), loops.anisotropic(LAMBDA.tolist())),
    "full": (FullAnisotropic(D, LAMBDA), loops.anisotropic(LAMBDA.tolist())),
    "scaled": (Scaled(D, LAMBDA), loops.scaled(LAMBDA.tolist())),
    "scaled-exp": (Scaled(D, LAMBDA, "exp"), loops.scaled(LAMBDA.tolist())),
    "step": skewed(),
    "per anchor": by_anchor(),
}


@pytest.mark.parametrize("name", CASES)
def test_matrix_pair_and_gradients(name):
    similarity, by_loop = CASES[name]
    q, r = rows(N, 0), rows(M, 1)
    expected = torch.tensor([[by_loop(a, b) for b in r.tolist()] for a in q.tolist()], dtype=torch.float64)
    torch.testing.assert_close(similarity(q, r), expected)
    torch.testing.assert_close(similarity.pair(q[:, None], r[None]), expected)
    torch.testing.assert_close(similarity(q), similarity(q, q))
    factors = similarity.factor(q, r)
    if factors is not None:
        torch.testing.assert_close(factors.matrix(), expected)
    leaves = q.requires_grad_(), r.requires_grad_()
    assert torch.autograd.gradcheck(lambda a, b, *_: similarity(a, b), (*leaves, *similarity.parameters()))


def test_lp_at_coinciding_points_has_a_zero_gradient():
    q = torch.zeros(2, D, requires_grad=True)
    for p in (1, 1.5, 2, 3):
        (grad,) = torch.autograd.grad(NegativeLp(p)(q, torch.zeros(2, D)).sum(), q)
        torch.testing.assert_close(grad, torch.zeros_like(grad))


def test_full_metric_turns_into_a_diagonal_one():
    similarity = FullAnisotropic(D).double()
    with torch.no_grad():
        similarity.raw.copy_(rows(1, 2)[0])
        similarity.lower.copy_(rows(1, 3)[0])
    z = rows(N, 4)
    concentration, rotation = similarity.to_diagonal()
    torch.testing.assert_close(rotation @ rotation.T, torch.eye(D).double())
    assert (concentration > 0).all()
    torch.testing.assert_close(Anisotropic(D, concentration)(z @ rotation), similarity(z))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_computed_in_float32(dtype):
    q = rows(N, 0, dtype=torch.float32).to(dtype)
    similarity = Anisotropic(D, initial=300.0)
    result = similarity(q, q)
    assert result.dtype == dtype
    torch.testing.assert_close(result, similarity(q.float(), q.float()).to(dtype))


def test_far_from_the_origin_distances_stay_exact():
    q = rows(N, 0, dtype=torch.float32)
    far = (q + 1000.0).requires_grad_()
    torch.testing.assert_close(NegativeLp(2)(far, far), NegativeLp(2)(q, q), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    "similarity", [Anisotropic(4), FullAnisotropic(4), Scaled(4), Anisotropic(1), LinearStep(4), PerAnchor(4)]
)
@pytest.mark.parametrize("width", [1, 3])
def test_another_width_is_refused_by_name(similarity, width):
    if width == similarity.dim:
        return
    q, r = torch.ones(5, width), torch.ones(5, width)
    message = rf"must have {similarity.dim} column\(s\) for `dim={similarity.dim}`, got shape \(5, {width}\)"
    for method in (similarity, similarity.pair, similarity.pairwise_distance, similarity.factor):
        with pytest.raises(ValueError, match="`q` " + message):
            method(q, r)
    with pytest.raises(ValueError, match="`r` " + message):
        similarity.pair(torch.ones(5, similarity.dim), r)


def test_bad_input():
    with pytest.raises(ValueError, match=r"`r` must have shape \(N, 3\), got \(4, 2\)"):
        Dot()(rows(N, 0), rows(M, 1)[:, :2])
    with pytest.raises(NotImplementedError, match="must implement `stretch`, `factor` or `matrix`"):
        Similarity()(rows(2, 0))
    with pytest.raises(NotImplementedError, match="must implement `pair`"):
        Similarity().pair(rows(2, 0), rows(2, 1))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_serves_as_distance_of_pytorch_metric_learning():
    reason = "pytorch-metric-learning is not installed (it is in the bench extra)"
    pml = pytest.importorskip("pytorch_metric_learning.losses", reason=reason)
    z0, z1 = rows(N, 0), rows(N, 1)
    embeddings, labels = torch.cat([z0, z1]).requires_grad_(), torch.arange(N).repeat(2)
    similarity = Anisotropic(D, LAMBDA)
    value = pml.NTXentLoss(temperature=1.0, distance=similarity)(embeddings, labels)
    expected = loops.info_nce_rows(
        z0.tolist(),
        z1.tolist(),
        similarity=loops.anisotropic(LAMBDA.tolist()),
        symmetric=True,
        candidates="both",
    )
    assert value.item() == pytest.approx(loops.mean(a + u for a, u in expected), abs=1e-6)
    value.backward()
    assert (similarity.raw.grad != 0).all()
    for name in ("TripletMarginLoss", "ContrastiveLoss", "MultiSimilarityLoss"):
        options = {"pos_margin": 1, "neg_margin": 0} if name == "ContrastiveLoss" else {}
        assert getattr(pml, name)(distance=similarity, **options)(embeddings, labels).isfinite()
