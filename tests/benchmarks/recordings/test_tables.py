"""Tables come from rows alone: the median, the worst, and a dash for what no row has."""

from benchmarks.recordings.rats import METHODS as RAT_METHODS
from benchmarks.recordings.sessions import CASES
from benchmarks.recordings.tables import TITLES, choices, rats, recovered
from benchmarks.recordings.worlds import WORLDS


def test_every_world_has_a_title():
    assert set(TITLES) == set(WORLDS)


def test_median_and_worst_over_seeds():
    rows = [
        {"world": "ar5", "method": "ours", "seed": seed, "r2": r2, "mcc": r2, "cpu_seconds": 20.0 + seed}
        | {"space": "flat", "concentration_error": 0.1 * (1 + seed)}
        for seed, r2 in enumerate((0.99, 0.97, 0.98))
    ]
    rows.append({"world": "ar5", "method": "PCA", "seed": 0, "r2": 0.88, "mcc": 0.6, "cpu_seconds": 0.02})
    text = recovered(rows)
    assert "| ours | 3 | 0.980 (0.970) | 0.980 (0.970) | 20% (30%) | 21.0 | flat 3 |" in text
    assert "| PCA | 1 | 0.880 (0.880) | 0.600 (0.600) | – | 0.0 | – |" in text
    assert "ar10" not in text


def test_rats_have_a_table_a_session():
    case, method = next(iter(CASES)), next(iter(RAT_METHODS))
    scores = {"linear_x": 0.96, "linear_y": 0.95, "neighbours_x": 0.97, "neighbours_y": 0.98}
    text = rats([{"world": case, "method": method, "seed": 0, "cpu_seconds": 12.0, **scores}])
    assert "### Sargolini: 120 grid cells (grid spacings 0.3, 0.5, 0.8 m)" in text
    assert f"| {method} | 1 | 0.96 (0.96) | 0.95 (0.95) | 0.97 (0.97) | 0.98 (0.98) | – | 12.0 |" in text


def test_a_chosen_lag_is_held_against_the_best_of_the_ladder():
    rows = [
        {"world": "sampled × 1", "method": f"lag {lag}", "seed": seed, "r2": r2, "lag": lag}
        for lag, values in {1: (0.9, 0.8), 4: (0.95, 0.7)}.items()
        for seed, r2 in enumerate(values)
    ]
    rows += [
        {"world": "sampled × 1", "method": "lag auto", "seed": seed, "r2": 0.8, "lag": 2} for seed in (0, 1)
    ]
    scores = {"r2": 0.9, "mcc": 0.95, "cpu_seconds": 60.0}
    rows.append({"world": "3 factors", "method": "columns auto", "seed": 0, "columns": 3, **scores})
    text = choices(rows)
    # Behind the best by .15 on the first seed and by nothing on the second.
    assert "| sampled × 1 | 2 | 0.850 | – | 0.825 | – | – | 2 2 | 0.800 | 0.075 (0.150) |" in text
    assert "| 3 factors | 1 | 3 1 | 0.900 (0.900) | 0.950 (0.950) | 60 |" in text
