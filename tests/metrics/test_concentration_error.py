import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from aninfonce.metrics import concentration_error

once = settings(derandomize=True, deadline=None, max_examples=25)


def test_by_hand():
    error = concentration_error(np.array([30.0, 4.0, 6.0]), np.array([5.0, 25.0, 5.0]), matching=[1, 0, 2])
    assert error.sorted == pytest.approx((-0.2, 0.2, 0.2))
    assert error.matched == pytest.approx((-0.2, 0.2, 0.2))
    assert (error.mean, error.max, float(error)) == pytest.approx((0.2, 0.2, 0.2))


def test_matching_sees_what_sorting_does_not():
    error = concentration_error(np.array([5.0, 25.0]), np.array([25.0, 5.0]), matching=[0, 1])
    assert error.mean == 0.0
    assert error.matched == pytest.approx((-0.8, 4.0))
    assert error.matched_mean == pytest.approx(2.4)
    assert error.matched_max == pytest.approx(4.0)


def test_without_matching():
    error = concentration_error(torch.tensor([5.0, 25.0]), torch.tensor([5.0, 25.0]))
    assert error.matched_mean is None
    assert repr(error) == "ConcentrationError(mean=0, max=0, sorted=(0, 0))"


def test_zero_concentration_is_measured_against_the_smallest_positive_one():
    error = concentration_error(np.array([0.5, 5.0, 25.0]), np.array([25.0, 0.0, 5.0]))
    assert error.sorted == pytest.approx((0.1, 0.0, 0.0))
    assert error.zero_concentration == (1,)


@once
@given(
    truth=st.lists(st.floats(0.1, 1e3), min_size=1, max_size=6),
    factor=st.floats(0.1, 10),
    seed=st.integers(0, 99),
)
def test_scale_and_order(truth, factor, seed):
    truth = np.array(truth)
    shuffled = np.random.default_rng(seed).permutation(truth)
    error = concentration_error(shuffled * factor, truth)
    assert error.sorted == pytest.approx([factor - 1] * len(truth), abs=1e-9)
    assert error.max == pytest.approx(abs(factor - 1), abs=1e-9)


@pytest.mark.parametrize(
    ("learned", "truth", "matching", "message"),
    [
        (np.ones(2), np.ones(3), None, r"`concentration_hat`.*as `concentration`, 3.*\(2,\)"),
        (np.ones(3), np.zeros(3), None, "`concentration` must have a positive entry"),
        (np.ones(3), np.array([1.0, -1.0, 2.0]), None, "`concentration` must be at least 0"),
        (np.array([1.0, np.nan]), np.ones(2), None, "`concentration_hat` must be finite.*1 of 2"),
        (np.ones(0), np.ones(0), None, "`concentration` must have at least 1 entry"),
        (np.ones(2), np.ones(2), [0, 0], "`matching` must hold each index from 0 to 1 once"),
        (np.ones(2), np.ones(2), [0, None], "`matching` must hold each index"),
    ],
)
def test_bad_input_is_refused_by_name(learned, truth, matching, message):
    with pytest.raises(ValueError, match=message):
        concentration_error(learned, truth, matching=matching)
