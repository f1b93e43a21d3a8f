import numpy as np
import pytest
from matplotlib.colors import same_color

from aninfonce.plots import concentration_plot
from aninfonce.plots._axes import MAIN

VALUES = np.array([0.5, 1.0, 1.2, 7.0, 41.0])
ENDS = np.stack([0.8 * VALUES, 1.25 * VALUES], axis=1)
BLOCKS = [[0], [1, 2], [3], [4]]


def tick_texts(axis, low, high):
    places = axis.get_major_locator().tick_values(low, high)
    return [axis.get_major_formatter()(place) for place in places if low <= place <= high]


def test_values_intervals_and_blocks_are_drawn():
    figure = concentration_plot(VALUES, ENDS, BLOCKS)
    (axes,) = figure.axes
    alone, _, shared, _ = axes.lines
    np.testing.assert_array_equal(alone.get_xdata(), [0, 3, 4])
    np.testing.assert_array_equal(alone.get_ydata(), VALUES[[0, 3, 4]])
    np.testing.assert_array_equal(shared.get_xdata(), [1, 2])
    assert same_color(alone.get_color(), MAIN)
    assert not same_color(shared.get_color(), MAIN)
    segments = axes.collections[1].get_segments()
    np.testing.assert_allclose([segment[:, 1] for segment in segments], ENDS[[1, 2]])
    words = [text.get_text() for text in figure.legends[0].texts]
    assert words == ["a factor by itself", "block of 1, 2: free to rotate"]


@pytest.mark.parametrize("scale", [1.0, 1e-4, 1e7])
def test_ticks_are_plain_numbers_and_whole_columns(scale):
    (axes,) = concentration_plot(scale * VALUES, scale * ENDS, BLOCKS).axes
    texts = tick_texts(axes.yaxis, *axes.get_ylim())
    assert len(texts) >= 3
    for text in texts:
        assert text.replace(".", "").isdigit()
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0", "1", "2", "3", "4"]


def test_a_narrow_range_has_ticks_too():
    values = np.linspace(20, 24, 10)
    (axes,) = concentration_plot(values, np.stack([values - 0.5, values + 0.5], axis=1), []).axes
    texts = tick_texts(axes.yaxis, *axes.get_ylim())
    assert len(texts) >= 3


def test_without_shared_blocks_there_is_no_legend():
    assert not concentration_plot(VALUES, ENDS, [[k] for k in range(5)]).legends


def test_zero_is_an_arrow_at_the_end_of_the_axis():
    values, ends = np.array([0.0, 2.0, 3.0]), np.array([[0.0, 0.5], [0.0, 4.0], [2.5, 4.0]])
    (axes,) = concentration_plot(values, ends, []).axes
    low, _ = axes.get_ylim()
    _, arrows = axes.lines
    np.testing.assert_array_equal(arrows.get_xdata(), [0, 1])
    np.testing.assert_array_equal(arrows.get_ydata(), [low, low])
    assert low > 0
    assert concentration_plot([0.0, 0.0], np.zeros((2, 2)), []).axes  # nothing above 0 at all


@pytest.mark.parametrize("unit", ["rows", "seconds"])
def test_time_has_a_unit(unit):
    (axes,) = concentration_plot(VALUES, ENDS, BLOCKS, as_time=unit).axes
    assert axes.get_ylabel() == f"time constant [{unit}]\n95 % interval"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((VALUES, ENDS[:2], BLOCKS), "`intervals` must have one row for each of the 5 values, got 2"),
        ((VALUES[:, None], ENDS, BLOCKS), r"`values` must have shape \(n,\), got ndarray of shape \(5, 1\)"),
        ((-VALUES, ENDS, BLOCKS), "`values` must be at least 0, got -41"),
        ((VALUES, ENDS, [[0, 5]]), "`blocks` must name columns 0 to 4, got 5"),
        ((VALUES, np.full((5, 2), np.nan), BLOCKS), "`intervals` must be finite, got NaN .* in 5 of 5 row"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        concentration_plot(*arguments)


def test_an_unknown_unit_is_refused():
    with pytest.raises(ValueError, match="`as_time` must be one of 'rows', 'seconds'"):
        concentration_plot(VALUES, ENDS, BLOCKS, as_time="hours")
