import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from aninfonce.mixing import Identity, InvertibleMLP


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_papers_mixing_is_well_conditioned():
    g = InvertibleMLP(10, generator=seeded(0))
    assert g.weights.shape == (3, 10, 10)
    assert torch.allclose(g.weights.norm(dim=1), torch.ones(3, 10))
    assert g.condition_numbers().max() < 4.5  # the median of such matrices is above 30


def test_more_candidates_condition_better():
    few, many = (
        InvertibleMLP(6, candidates=n, generator=seeded(0)).condition_numbers().mean() for n in (1, 1000)
    )
    assert many < few / 2


def test_forward_is_linear_layers_with_leaky_relu_between():
    g = InvertibleMLP(3, layers=2, slope=0.2, candidates=10, generator=seeded(0))
    z = torch.randn(7, 3, generator=seeded(1))
    hidden = z @ g.weights[0].T
    expected = torch.where(hidden > 0, hidden, 0.2 * hidden) @ g.weights[1].T
    assert torch.allclose(g(z), expected)


@settings(max_examples=25, deadline=None)
@given(d=st.integers(1, 12), layers=st.integers(1, 5), slope=st.floats(0.05, 2.0), seed=st.integers(0, 2**31))
def test_inverse_is_exact(d, layers, slope, seed):
    g = InvertibleMLP(d, layers, slope, candidates=50, generator=seeded(seed))
    z = torch.randn(5, d, dtype=torch.float64, generator=seeded(seed))
    assert torch.allclose(g.inverse(g(z)), z, atol=1e-6)


def test_same_seed_same_mixing_and_nothing_is_trainable():
    first, second = (InvertibleMLP(4, candidates=20, generator=seeded(5)) for _ in range(2))
    assert torch.equal(first.weights, second.weights)
    assert not list(first.parameters())
    assert "weights" in first.state_dict()


def test_identity():
    z = torch.randn(2, 3, generator=seeded(0))
    assert torch.equal(Identity().inverse(Identity()(z)), z)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: InvertibleMLP(0), "`dim` must be a whole number of at least 1, got 0"),
        (lambda: InvertibleMLP(3, layers=0), "`layers` must be"),
        (lambda: InvertibleMLP(3, slope=0.0), "`slope` must be a finite number above 0"),
        (lambda: InvertibleMLP(3, candidates=5).inverse(torch.zeros(2, 4)), r"`x` must have shape \(N, 3\)"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
