import numpy as np
import pytest

from aninfonce.plots import curve_plot


def test_the_kept_step_is_marked():
    (axes,) = curve_plot([10, 20, 30], [1.0, 1.5, 1.2], best=20).axes
    np.testing.assert_array_equal(axes.lines[0].get_xydata(), [[10, 1.0], [20, 1.5], [30, 1.2]])
    np.testing.assert_array_equal(axes.lines[-1].get_xydata(), [[20, 1.5]])
    assert "kept: step 20" in [text.get_text() for text in axes.texts]
    assert axes.get_xlabel() == "step"
    assert axes.get_ylabel() == "held-out bits"


def test_guessing_is_drawn_where_it_is_near():
    near, far = (curve_plot([1, 2], scores).axes[0] for scores in ([0.5, 2.0], [8.0, 8.5]))
    assert [text.get_text() for text in near.texts] == ["guessing"]
    assert not far.texts
    assert not curve_plot([1, 2], [0.5, 2.0], chance=None).axes[0].texts


def test_a_step_that_comes_twice_begins_a_phase():
    figure = curve_plot([1, 2, 2, 3], [0.5, 0.6, 0.3, 0.4], best=2, phases=("flat", "sphere"))
    (axes,) = figure.axes
    first, second, *_, mark = axes.lines
    np.testing.assert_array_equal(first.get_xydata(), [[1, 0.5], [2, 0.6]])
    np.testing.assert_array_equal(second.get_xydata(), [[2, 0.3], [3, 0.4]])
    np.testing.assert_array_equal(mark.get_xydata(), [[2, 0.3]])
    assert [text.get_text() for text in figure.legends[0].texts] == ["flat", "sphere"]


def test_steps_are_whole_and_one_is_enough():
    (axes,) = curve_plot([5], [1.0], best=7).axes
    ticks = axes.get_xticks()
    np.testing.assert_array_equal(ticks, np.round(ticks))


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"`scores` must have shape \(2,\), got ndarray of shape \(3,\)"):
        curve_plot([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="`steps` must be one or more steps in ascending order"):
        curve_plot([], [])
    with pytest.raises(ValueError, match="`steps` must be one or more steps in ascending order"):
        curve_plot([2, 1], [1, 2])
    with pytest.raises(ValueError, match="`scores` must be an array of numbers"):
        curve_plot([1], ["high"])
