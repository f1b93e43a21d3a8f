import numpy as np
import pytest
import torch

from aninfonce.plots.coloring import MOST_LABELS, OTHER, coloring


def test_numbers_and_labels_are_told_apart():
    assert coloring(None, 3).title == "row"
    assert coloring(np.linspace(0, 1, 4), 4).names is None
    assert coloring(np.arange(30), 30).names is None
    assert coloring(np.arange(30) % 3, 30).names == ("0", "1", "2")
    assert coloring([True, False], 2).names == ("False", "True")
    assert coloring(torch.tensor([2, 1]), 2).names == ("1", "2")
    np.testing.assert_array_equal(coloring(["b", "a", "b"], 3).values, [1, 0, 1])


def test_the_rarest_of_many_labels_share_a_colour():
    names = [f"{k:02d}" for k in range(15)]
    found = coloring(names[:9] * 5 + names[9:], 51)
    assert found.names == (*names[:9], OTHER)
    assert len(found.names) == MOST_LABELS
    assert (found.values == 9).sum() == 6


def test_a_column_of_a_frame_brings_its_name():
    pd = pytest.importorskip("pandas")
    assert coloring(pd.Series([0.1, 0.2], name="speed"), 2).title == "speed"
    assert coloring(pd.Series(["a", "b"], dtype="category"), 2, "kind").names == ("a", "b")


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"`color` must have one entry for each of the 3 rows, got .*\(2,\)"):
        coloring([1, 2], 3)
    with pytest.raises(ValueError, match="`color` must be finite, got NaN or infinity in 1 of 2"):
        coloring([0.5, np.nan], 2)
