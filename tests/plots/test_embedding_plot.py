import numpy as np
import pytest

from aninfonce.plots import embedding_plot

Z = np.random.default_rng(0).normal(size=(40, 3))


def test_time_is_a_colour_bar_and_the_path_a_line():
    axes, bar = embedding_plot(Z, columns=(2, 0), trajectory=True).axes
    np.testing.assert_array_equal(axes.collections[0].get_offsets(), Z[:, [2, 0]])
    np.testing.assert_array_equal(axes.collections[0].get_array(), np.arange(40))
    np.testing.assert_array_equal(axes.lines[0].get_xydata(), Z[:, [2, 0]])
    assert (axes.get_xlabel(), axes.get_ylabel(), bar.get_ylabel()) == ("column 2", "column 0", "row")
    assert not embedding_plot(Z).axes[0].lines


def test_labels_have_a_legend():
    state = np.where(np.arange(40) < 10, "wake", "sleep")
    figure = embedding_plot(Z, color=state, label="state")
    (axes,) = figure.axes
    assert [len(part.get_offsets()) for part in axes.collections] == [30, 10]
    assert [text.get_text() for text in figure.legends[0].texts] == ["sleep", "wake"]
    assert figure.legends[0].get_title().get_text() == "state"


def test_one_column_is_drawn_against_the_row():
    axes, _ = embedding_plot(Z[:, :1], columns=(0,)).axes
    np.testing.assert_array_equal(axes.collections[0].get_offsets()[:, 0], np.arange(40))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("row", "column 0")


def test_many_points_are_pixels():
    many = np.random.default_rng(0).normal(size=(5000, 2))
    assert embedding_plot(many).axes[0].collections[0].get_rasterized()
    assert not embedding_plot(Z).axes[0].collections[0].get_rasterized()


@pytest.mark.parametrize("columns", [(0, 3), (0, 1, 2), (), (-1, 0), "ab", 1])
def test_columns_that_are_not_there_are_refused(columns):
    with pytest.raises(ValueError, match="`columns` must be one or two of 0 to 2"):
        embedding_plot(Z, columns=columns)


def test_rows_that_are_not_finite_are_counted():
    with pytest.raises(ValueError, match="`z` must be finite, got NaN or infinity in 2 of 40"):
        embedding_plot(np.where(np.arange(40)[:, None] < 2, np.inf, Z))
