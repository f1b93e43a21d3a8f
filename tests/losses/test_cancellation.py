"""Float32 keeps its digits where clusters are far apart, rows are far out, or Λ̂ is large."""

import copy

import pytest
import torch
from torch.nn.functional import normalize

from aninfonce.losses import AnInfoNCE, InfoNCE, LpInfoNCE, NTXent
from aninfonce.losses.kernel import panels

D = 5


def draw(n, seed, d=D):
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed))


def clusters(n, apart):
    offset = torch.zeros(n, D)
    offset[n // 2 :] = apart
    return draw(n, 0) + offset, draw(n, 0) + 0.3 * draw(n, 1) + offset


def one_far_out(n, far=1e6):
    z0 = draw(n, 0)
    z0[3] = far
    return z0, z0 + 0.3 * draw(n, 1)


def close_on_the_sphere(n, concentration):
    z0 = normalize(torch.eye(D)[0] + draw(n, 0) / concentration**0.5)
    return z0, normalize(z0 + 0.3 * draw(n, 1) / concentration**0.5)


def anisotropic(concentration=1.0, **options):
    return AnInfoNCE(D, initial=concentration, **options)


FAR = {"normalize": False}
CASES = {
    "shifted": (lambda n: tuple(z + 1e4 for z in clusters(n, 0.0)), anisotropic(**FAR)),
    "clusters 1e2 apart": (lambda n: clusters(n, 1e2), anisotropic(**FAR)),
    "clusters 1e3 apart": (lambda n: clusters(n, 1e3), anisotropic(**FAR)),
    "clusters 1e4 apart": (lambda n: clusters(n, 1e4), anisotropic(**FAR)),
    "clusters, L2": (lambda n: clusters(n, 1e4), LpInfoNCE(2)),
    "one at 1e6": (one_far_out, anisotropic(**FAR)),
    "one at 1e6, potential": (one_far_out, AnInfoNCE(D, potential=True, **FAR)),
    "sphere, 1e3": (lambda n: close_on_the_sphere(n, 1e3), anisotropic(1e3)),
    "sphere, 1e8": (lambda n: close_on_the_sphere(n, 1e8), anisotropic(1e8)),
    **{
        f"sphere, 1e8, {candidates}, {symmetric}": (
            lambda n: close_on_the_sphere(n, 1e8),
            anisotropic(1e8, candidates=candidates, symmetric=symmetric),
        )
        for candidates in ("anchors+self", "positives", "both")
        for symmetric in (False, True)
    },
    "long rows": (lambda n: tuple(z * 1e25 for z in clusters(n, 0.0)), anisotropic()),
    "low temperature": (lambda n: clusters(n, 0.0), NTXent(0.01)),
    "lower temperature": (lambda n: clusters(n, 0.0), InfoNCE(temperature=0.001, candidates="positives")),
    "usual": (lambda n: clusters(n, 0.0), anisotropic(25.0)),
}


def gradients(loss, views, dtype):
    leaves = [z.to(dtype).requires_grad_() for z in views]
    value = loss(*leaves)
    value.backward()
    return [g.double() for g in (value.detach(), *(z.grad for z in leaves))]


@pytest.mark.parametrize("n", [60, 700])
@pytest.mark.parametrize("name", CASES)
def test_single_precision_gradients_are_those_of_double(name, n):
    make, loss = CASES[name]
    single, double = (gradients(copy.deepcopy(loss), make(n), t) for t in (torch.float32, torch.float64))
    for mine, exact in zip(single, double, strict=True):
        assert (mine - exact).norm() < 1e-4 * exact.norm()


@pytest.mark.parametrize("reduction", ["mean", "none"])
def test_usual_input_does_not_take_the_exact_way(reduction, monkeypatch):
    monkeypatch.setattr(panels, "_row_maximum", None)  # only that way calls it
    for concentration in (1.0, 25.0, 400.0):
        z0, z1 = (normalize(z) for z in clusters(700, 0.0))
        anisotropic(concentration, reduction=reduction)(z0, z1)
    with pytest.raises(TypeError):
        anisotropic(**FAR)(*clusters(60, 1e4))
