import numpy as np
import pytest

from aninfonce.plots import attribution_plot


def test_cells_names_and_axes():
    cells = np.array([[1.0, 0.0, 0.2], [0.0, 2.0, 0.1]])
    axes, bar = attribution_plot(cells, ["left", "right", "both"]).axes
    np.testing.assert_array_equal(axes.images[0].get_array(), cells)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["left", "right", "both"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["0", "1"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("input", "column")
    assert "standard deviation" in bar.get_ylabel()


def test_of_many_inputs_those_that_matter_to_any_column_stay():
    cells = np.full((2, 50), 5.0)
    cells[0, 7] = 100.0
    cells[1] = 0.001
    cells[1, 31] = 0.1  # the most that the second column depends on, though little beside the first
    axes, _ = attribution_plot(cells, most=2).axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["7", "31"]
    assert axes.get_xlabel() == "input (2 of 50)"


def test_a_column_that_depends_on_nothing_is_drawn():
    assert attribution_plot(np.zeros((1, 3))).axes


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="`feature_names` must have a name for each of the 3 inputs"):
        attribution_plot(np.ones((2, 3)), ["a"])
    with pytest.raises(ValueError, match="`matrix` must be at least 0, got -1"):
        attribution_plot(-np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"`matrix` must have shape \(n, d\) and not be empty"):
        attribution_plot(np.ones((0, 3)))
