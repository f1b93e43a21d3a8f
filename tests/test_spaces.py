import math

import pytest
import torch

from aninfonce.spaces import Box, Euclidean, Sphere


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
