import numpy as np

from aninfonce.diagnostics.intervals import jackknife


def test_jackknife_intervals_cover():
    """200 intervals of 95 % for a variance: fewer than 178 cover with probability below 1e-3."""
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(200):
        x = rng.normal(size=400)
        _, (low, high) = jackknife(lambda rows, x=x: x[rows].var(), 400)
        covered += low < 1 < high
    assert covered >= 178
