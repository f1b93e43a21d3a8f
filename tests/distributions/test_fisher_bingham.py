import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special, stats

from aninfonce.distributions import ApproximateFisherBingham, FisherBingham, Uniform, VonMisesFisher
from aninfonce.distributions import _angular_gaussian as angular_gaussian
from aninfonce.spaces import Sphere

from .sphere_quadrature import cell_probabilities, chi_square_p_value

# Different shapes of the density at d = 3: uniform in a plane, needle, girdle, bimodal, mixed.
CASES = [
    ((5.0, 5.0, 25.0), (1.0, 0.0, 0.0)),
    ((5.0, 5.0, 25.0), (0.0, 0.0, 1.0)),
    ((5.0, 25.0, 100.0), (0.6, 0.0, 0.8)),
    ((0.0, 0.0, 50.0), (0.6, 0.8, 0.0)),
    ((0.0, 10.0, 100.0), (1.0, 0.0, 0.0)),
    ((30.0, 0.0, 0.0), (0.1, 0.7, -math.sqrt(0.5))),
    ((1.0, 2.0, 3.0), (-0.6, 0.0, 0.8)),
    ((0.1, 0.2, 0.3), (0.0, 1.0, 0.0)),
    ((40.0, 40.0, 40.0), (0.6, 0.0, 0.8)),
    ((200.0, 1.0, 20.0), (0.5, 0.5, math.sqrt(0.5))),
]


def anchors(point: tuple[float, ...], n: int) -> torch.Tensor:
    return torch.tensor(point).expand(n, -1).contiguous()


def blocks(d: int, *values: float) -> torch.Tensor:
    return torch.tensor([values[i % len(values)] for i in range(d)])


def p_value(case: int, draws: int, sampler: type = FisherBingham, seed: int = 0) -> float:
    concentration, anchor = CASES[case]
    lam, z = np.array(concentration), np.array(anchor)
    expected = cell_probabilities(lambda x: -0.5 * (lam * (x - z) ** 2).sum(axis=-1))
    law = sampler(anchors(anchor, draws), torch.tensor(concentration))
    return chi_square_p_value(law.sample(torch.Generator().manual_seed(seed)).numpy(), expected)


def test_draws_match_quadrature_and_p_values_look_uniform():
    values = [p_value(case, 100_000, seed=seed) for case in range(len(CASES)) for seed in (1, 2)]
    # False alarm: 20 · 1e-5 for the first check, 1e-3 for the second.
    assert min(values) > 1e-5, values
    assert stats.kstest(values, "uniform").pvalue > 1e-3, values


def test_the_chi_square_test_has_power_against_the_approximate_sampler():
    assert p_value(2, 100_000, ApproximateFisherBingham) < 1e-6


@pytest.mark.parametrize(
    ("d", "values"), [(10, (5, 25)), (10, (15, 250, 400)), (20, (75,)), (50, (5, 25)), (100, (15, 250, 400))]
)
def test_predicted_and_measured_acceptance_agree(d, values, monkeypatch):
    outcomes = []
    loop = angular_gaussian.sample_by_rejection

    def recording_loop(count, propose, *args, **kwargs):
        def recorded(rows):
            x, accepted = propose(rows)
            if len(rows) == count:  # the first round: one proposal for every anchor
                outcomes.append(accepted)
            return x, accepted

        return loop(count, recorded, *args, **kwargs)

    monkeypatch.setattr(angular_gaussian, "sample_by_rejection", recording_loop)
    z = Uniform(Sphere(d)).sample(20_000, torch.Generator().manual_seed(0))
    law = FisherBingham(z, blocks(d, *map(float, values)))
    law.sample(torch.Generator().manual_seed(1))
    measured, predicted = torch.cat(outcomes).double(), law.acceptance_rate().double()
    assert len(measured) == len(z)
    standard_error = (predicted * (1 - predicted)).sum().sqrt() / len(z)
    assert abs(measured.mean() - predicted.mean()) < 3 * standard_error


@pytest.mark.parametrize(("d", "kappa"), [(2, 5.0), (3, 1.0), (10, 20.0), (30, 75.0)])
def test_isotropic_case_has_the_moments_of_von_mises_fisher(d, kappa):
    z = Uniform(Sphere(d)).sample(40_000, torch.Generator().manual_seed(0))
    cosine = (FisherBingham(z, torch.full((d,), kappa)).sample(torch.Generator().manual_seed(1)) * z).sum(
        dim=1
    )
    reference = (VonMisesFisher(z, kappa).sample(torch.Generator().manual_seed(2)) * z).sum(dim=1)
    assert stats.ks_2samp(cosine.numpy(), reference.numpy()).pvalue > 1e-4


def test_isotropic_density_is_von_mises_fisher():
    z = Uniform(Sphere(10), torch.float64).sample(50, torch.Generator().manual_seed(0))
    x = Uniform(Sphere(10), torch.float64).sample(50, torch.Generator().manual_seed(1))
    ours = FisherBingham(z, torch.full((10,), 20.0, dtype=torch.float64)).log_prob(x)
    assert torch.allclose(ours, VonMisesFisher(z, 20.0).log_prob(x), atol=3e-4, rtol=0)


def test_zero_concentration_is_uniform():
    z = torch.eye(4)
    law = FisherBingham(z, torch.zeros(4))
    generator = torch.Generator().manual_seed(3)
    assert torch.equal(law.sample(generator), Uniform(Sphere(4)).sample(4, torch.Generator().manual_seed(3)))
    assert torch.allclose(law.log_prob(z), Uniform(Sphere(4)).log_prob(z), atol=2e-3)
    assert torch.equal(law.acceptance_rate(), torch.ones(4))


def test_anchor_with_all_its_mass_where_concentration_is_zero():
    # u = Λz vanishes: the density is even in x, and both signs must come up equally often.
    z = anchors((1.0, 0.0, 0.0), 4000)
    x = FisherBingham(z, torch.tensor([0.0, 10.0, 50.0])).sample(torch.Generator().manual_seed(0))
    positive = int((x[:, 0] > 0).sum())
    assert abs(positive - 2000) < 5 * math.sqrt(1000)


@pytest.mark.parametrize("case", range(len(CASES)))
def test_normalizer_matches_quadrature_at_d_3(case):
    concentration, anchor = (np.array(part) for part in CASES[case])

    def kernel(angle, height):
        radius = math.sqrt(1 - height**2)
        x = np.array([radius * math.cos(angle), radius * math.sin(angle), height])
        return math.exp(-0.5 * float((concentration * (x - anchor) ** 2).sum()))

    exact, _ = integrate.dblquad(kernel, -1, 1, -math.pi, math.pi, epsabs=1e-7, epsrel=1e-6)
    ours = FisherBingham(
        torch.tensor(anchor)[None] / np.linalg.norm(anchor), torch.tensor(concentration)
    ).log_normalizer()
    assert abs(float(ours) - math.log(exact)) < 1e-5


@pytest.mark.parametrize(("d", "kappa"), [(2, 0.5), (3, 40.0), (10, 20.0), (50, 0.0), (100, 1e4), (10, 1e5)])
def test_isotropic_normalizer_is_a_bessel_function(d, kappa):
    z = Uniform(Sphere(d), torch.float64).sample(4, torch.Generator().manual_seed(0))
    ours = FisherBingham(z, torch.full((d,), kappa, dtype=torch.float64)).log_normalizer()
    assert torch.allclose(ours, VonMisesFisher(z, kappa).log_normalizer(), atol=1e-9, rtol=0)


def around(peak, width, low, high):
    """Breakpoints for a quadrature whose integrand has one narrow peak."""
    steps = width * 2.0 ** np.arange(-2, 40)
    points = np.concatenate([[low, peak, high], peak - steps, peak + steps])
    return np.unique(points[(points >= low) & (points <= high)])


def piecewise_integral(function, points):
    pieces = [
        integrate.quad(function, a, b, epsabs=0, epsrel=1e-12)[0] for a, b in itertools.pairwise(points)
    ]
    return math.fsum(pieces)


@pytest.mark.parametrize("angle", [0.0, 0.01, 0.3, 0.9273, 1.5, math.pi / 2])
@pytest.mark.parametrize("ratio", [1e2, 1e4, 1e7])
@pytest.mark.parametrize("small", [1e-2, 30.0])
def test_normalizer_is_exact_for_any_ratio_of_concentrations_on_the_circle(small, ratio, angle):
    z, lam = np.array([math.cos(angle), math.sin(angle)]), np.array([small, small * ratio])

    def kernel(shift):
        # Points by half angles around the anchor: no cancellation however narrow the peak.
        chord = 2 * math.sin(shift / 2)
        step = chord * np.array([-math.sin(angle + shift / 2), math.cos(angle + shift / 2)])
        return math.exp(-0.5 * float(lam @ step**2))

    width = 1 / math.sqrt(1 + lam[1])
    mirrored = math.pi - 2 * angle  # the other point with the same second coordinate
    points = [around(peak, width, -math.pi, math.pi) for peak in (0.0, mirrored)]
    exact = piecewise_integral(kernel, np.unique(np.concatenate(points)))
    ours = FisherBingham(torch.tensor(z)[None], torch.tensor(lam)).log_normalizer()
    # The kernel's exponent is a difference of numbers as large as Λ.
    assert abs(float(ours) - math.log(exact)) < 1e-9 + 1e-15 * lam[1]


@pytest.mark.parametrize("height", [0.0, 0.02, 0.8, 0.999, 1.0])
@pytest.mark.parametrize("pair", [(1.0, 1e4), (1e4, 1.0), (0.1, 1e6), (20.0, 1e5)])
def test_normalizer_is_exact_for_any_ratio_of_concentrations_on_the_sphere(pair, height):
    """With Λ = (a, a, b) the angle around the axis integrates to a Bessel function."""
    a, b = pair
    across = math.sqrt(1 - height**2)

    def slice_(h):
        radius = math.sqrt(max(1 - h * h, 0.0))
        exponent = -0.5 * b * (h - height) ** 2 - 0.5 * a * (radius - across) ** 2
        return 2 * math.pi * special.ive(0, a * radius * across) * math.exp(exponent)

    exact = piecewise_integral(slice_, around(height, 1 / math.sqrt(max(a, b)), -1.0, 1.0))
    z = torch.tensor([[across, 0.0, height]], dtype=torch.float64)
    ours = FisherBingham(z, torch.tensor([a, a, b], dtype=torch.float64)).log_normalizer()
    assert abs(float(ours) - math.log(exact)) < 2e-8


@pytest.mark.parametrize("values", [(5.0, 25.0), (15.0, 250.0, 400.0), (0.0, 3.0)])
def test_saddlepoint_approximation_at_d_10(values):
    z = Uniform(Sphere(10), torch.float64).sample(200, torch.Generator().manual_seed(0))
    law = FisherBingham(z, blocks(10, *values))
    error = (law.log_normalizer("saddlepoint") - law.log_normalizer()).abs()
    assert error.max() < 1e-2
    assert error.max() > 1e-7  # two methods, not one under two names


def test_log_prob_is_normalised_at_d_3():
    concentration, anchor = CASES[2]
    x = Uniform(Sphere(3), torch.float64).sample(400_000, torch.Generator().manual_seed(0))
    law = FisherBingham(torch.tensor([anchor]).double(), torch.tensor(concentration).double())
    density = law.log_prob(x[:, None])[:, 0].exp()
    assert density.mean() * 4 * math.pi == pytest.approx(1.0, abs=0.03)


def test_high_dimension_and_mixed_concentration_draws():
    z = Uniform(Sphere(100)).sample(500, torch.Generator().manual_seed(0))
    x = FisherBingham(z, blocks(100, 15.0, 250.0, 400.0)).sample(torch.Generator().manual_seed(1))
    assert Sphere(100).contains(x).all()


@settings(max_examples=30, deadline=None)
@given(
    d=st.integers(2, 12),
    scale=st.floats(1e-3, 1e5),
    seed=st.integers(0, 2**31),
    dtype=st.sampled_from([torch.float32, torch.float64]),
)
def test_draws_lie_on_the_sphere_and_are_reproducible(d, scale, seed, dtype):
    generator = torch.Generator().manual_seed(seed)
    z = Uniform(Sphere(d), dtype).sample(16, generator)
    concentration = torch.rand(d, generator=generator, dtype=dtype) * scale
    law = FisherBingham(z, concentration)
    first, second = (law.sample(torch.Generator().manual_seed(seed)) for _ in range(2))
    assert first.dtype == dtype
    assert torch.equal(first, second)
    assert Sphere(d).contains(first).all()
    assert torch.isfinite(law.log_prob(first)).all()
    rate = law.acceptance_rate()
    assert ((rate > 0) & (rate < 1.1)).all()


def test_global_random_state_is_left_alone():
    before = torch.get_rng_state()
    FisherBingham(torch.eye(3), torch.ones(3)).sample(torch.Generator().manual_seed(0))
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize(
    ("loc", "concentration", "message"),
    [
        (torch.ones(2, 3), torch.ones(3), "`loc` must lie in Sphere"),
        (torch.eye(3), torch.ones(4), r"`concentration` must have shape \(3,\), got \(4,\)"),
        (torch.eye(3), -torch.ones(3), "`concentration` must be at least 0 everywhere, got an entry of -1"),
        (torch.eye(3) * torch.nan, torch.ones(3), "`loc` must be finite, got NaN or infinity in 3 of 3"),
        (torch.ones(3, 1), torch.ones(1), "`dim` must be a whole number of at least 2, got 1"),
        (torch.zeros(0, 3), torch.ones(3), r"`loc` must have at least 1 row\(s\), got shape \(0, 3\)"),
        (torch.ones(3), torch.ones(3), r"`loc` must be a floating-point tensor of shape \(N, 3\)"),
        (torch.eye(3).half(), torch.ones(3), "`loc` must be float32 or float64"),
        (torch.eye(3), torch.ones(3, device="meta"), "must be on one device, got `loc` on cpu"),
    ],
)
def test_bad_input_is_named(loc, concentration, message):
    with pytest.raises(ValueError, match=message):
        FisherBingham(loc, concentration)


def test_hopeless_parameters_stop_with_a_clear_error(monkeypatch):
    monkeypatch.setattr("aninfonce.distributions.base.MAX_PROPOSALS", 10)
    law = ApproximateFisherBingham(torch.eye(60)[:1], torch.full((60,), 0.01))
    with pytest.raises(RuntimeError, match=r"1 of 1 draws found no accepted proposal .* too small"):
        law.sample(torch.Generator().manual_seed(0))
