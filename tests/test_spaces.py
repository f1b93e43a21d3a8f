import math

import pytest
import torch

from aninfonce.spaces import Box, Euclidean, Sphere, within_squares


def test_volumes():
    assert Sphere(3, 2.0).log_volume() == pytest.approx(math.log(16 * math.pi))
    assert Sphere(2).log_volume() == pytest.approx(math.log(2 * math.pi))
    assert Box(3, -1, 1).log_volume() == pytest.approx(math.log(8))
    assert Euclidean(3).log_volume() == math.inf


def test_membership():
    assert Sphere(2, 5.0).contains(torch.tensor([[3.0, 4.0], [3.0, 3.0]])).tolist() == [True, False]
    assert Box(1).contains(torch.tensor([[0.0], [1.0], [1.1]])).tolist() == [True, True, False]
    assert Euclidean(1).contains(torch.tensor([[1e30], [math.nan]])).tolist() == [True, False]


def test_projection_reaches_the_sphere_and_keeps_zero_rows_finite():
    points = Sphere(2, 3.0).project(torch.tensor([[4.0, 3.0], [0.0, 0.0]]))
    assert torch.allclose(points, torch.tensor([[2.4, 1.8], [0.0, 0.0]]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Sphere(1), "`dim` must be a whole number of at least 2, got 1"),
        (lambda: Sphere(3, radius=-1), "`radius` must be a finite number above 0, got -1"),
        (lambda: Box(2, 1.0, 1.0), "`high` must be a finite number above 1, got 1"),
        (lambda: Box(0), "`dim` must be a whole number of at least 1"),
        (lambda: Euclidean(2.5), "`dim` must be a whole number"),
        (
            lambda: Box(2).check(torch.full((4, 2), 2.0), "z"),
            r"`z` must lie in Box.* got 4 of 4 row\(s\) outside",
        ),
        (lambda: Box(2).check(torch.zeros(4, 3), "z"), r"`z` must have shape \(N, 2\), got \(4, 3\)"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_rows_of_any_length_keep_their_direction_and_can_be_squared(dtype):
    limits = torch.finfo(dtype)
    lengths = 2.0 ** torch.linspace(
        math.log2(limits.tiny) / 2, math.log2(limits.max) - 1, 60, dtype=torch.float64
    )
    rows = lengths.to(dtype)[:, None] * torch.tensor([0.5, -0.5, 0.25, 1.0], dtype=dtype)
    found = within_squares(rows)
    assert bool(found.square().sum(dim=1).isfinite().all())
    ratios = found.double() / rows.double()
    assert torch.equal(ratios, ratios[:, :1].expand_as(ratios))
    assert torch.equal(torch.frexp(ratios).mantissa, torch.full_like(ratios, 0.5))
    changed = (found != rows).any(dim=1)
    assert bool(changed.any())
    assert bool((rows.abs().amax(dim=1)[changed].double() > limits.max**0.4).all())
    assert bool((found[changed].abs().amax(dim=1) >= 1).all())


@pytest.mark.parametrize("length", [1.0, 1e19, 1e20, 1e30, 3e38])
def test_a_long_row_is_projected_to_the_sphere(length):
    points = torch.tensor([[0.6, -0.8]]) * length
    torch.testing.assert_close(Sphere(2, 2.0).project(points), torch.tensor([[1.2, -1.6]]))
