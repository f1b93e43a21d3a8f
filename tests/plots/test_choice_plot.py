import numpy as np
import pytest

from aninfonce.plots import choice_plot


def test_bars_of_one_error_and_the_choice():
    (axes,) = choice_plot([3, 1, 2], [1.4, 0.5, 1.3], [0.1, 0.2, 0.3], 2, name="number of columns").axes
    curve = axes.lines[0]
    np.testing.assert_array_equal(curve.get_xydata(), [[1, 0.5], [2, 1.3], [3, 1.4]])
    bars = [segment[:, 1] for segment in axes.collections[0].get_segments()]
    np.testing.assert_allclose(bars, [[0.3, 0.7], [1.0, 1.6], [1.3, 1.5]])
    np.testing.assert_array_equal(axes.lines[-1].get_xydata(), [[2, 1.3]])
    assert [text.get_text() for text in axes.texts] == ["taken: 2"]
    assert axes.get_xlabel() == "number of columns"
    assert axes.get_ylabel() == "held-out bits ± one standard error"
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "2", "3"]


def test_lags_far_apart_stand_evenly():
    lags = [1, 2, 4, 8, 16, 32, 64]
    (axes,) = choice_plot(lags, np.ones(7), np.zeros(7), 4, name="lag [rows]", score="agreement").axes
    assert axes.get_xscale() == "log"
    assert [label.get_text() for label in axes.get_xticklabels()] == [str(lag) for lag in lags]
    assert axes.get_ylabel().startswith("agreement")


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"`chosen` must be one of the candidates \[1.0, 2.0\], got 3"):
        choice_plot([1, 2], [0, 0], [0, 0], 3, name="lag")
    with pytest.raises(ValueError, match="`errors` must be at least 0, got -1"):
        choice_plot([1, 2], [0, 0], [0, -1], 1, name="lag")
    with pytest.raises(ValueError, match=r"`scores` must have shape \(2,\)"):
        choice_plot([1, 2], [0], [0, 0], 1, name="lag")
