"""CEBRA as a peer: its grid, its columns, and what to do where it is missing."""

import sys

import numpy as np
import pytest

from aninfonce_papers.beyond.cebra_time import CebraSettings, cebra_time, grid

QUICK = CebraSettings(distance="cosine", time_offset=2, iterations=3)


def test_the_grid_has_eight_cells_and_four_where_the_lag_is_ten():
    assert len(set(grid(1))) == 8
    assert {settings.time_offset for settings in grid(2)} == {2, 10}
    assert len(grid(10)) == 4


def test_whoever_lacks_it_is_told_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "cebra", None)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "aninfonce\[examples\]"'):
        cebra_time(np.zeros((20, 3)), 10, 2, 0, QUICK)


def test_all_rows_are_embedded_and_the_sphere_gets_one_column_more():
    pytest.importorskip("cebra", reason="CEBRA is a peer that need not be installed")
    x = np.random.default_rng(0).normal(size=(600, 4))
    on_sphere = cebra_time(x, 500, 2, 0, QUICK)
    assert on_sphere.shape == (600, 3)
    np.testing.assert_allclose(np.linalg.norm(on_sphere, axis=1), 1.0, atol=1e-5)
    flat = QUICK.model_copy(update={"distance": "euclidean"})
    assert cebra_time(x, 500, 2, 0, flat).shape == (600, 2)
