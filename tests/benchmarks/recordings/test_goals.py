"""Goals are judged by rows alone."""

from benchmarks.recordings.goals import judged
from benchmarks.recordings.worlds import WORLDS

from benchmarks.recordings import goals


def row(world, seed, method="ours", **scores):
    return {"world": world, "seed": seed, "method": method, **scores}


def test_goals_are_about_worlds_that_there_are():
    assert {world for goal in goals.GOALS for world in goal.worlds} <= set(WORLDS)


def test_a_goal_for_the_worst_seed_looks_at_the_worst():
    rows = [row("ar5", seed, r2=r2, concentration_error=0.2) for seed, r2 in enumerate((0.99, 0.96, 0.98))]
    assert judged(rows) == [
        ["ar5", "R², worst", "≥ 0.97", "0.96", "3", "**no**"],
        ["ar5", "Λ̂ error, worst", "≤ 0.25", "0.2", "3", "yes"],
    ]


def test_short_recordings_are_held_against_pca_seed_by_seed():
    world = "ar5-6000-rows"
    rows = [row(world, seed, r2=r2) for seed, r2 in enumerate((0.95, 0.85))]
    rows += [row(world, seed, "PCA", r2=r2) for seed, r2 in enumerate((0.80, 0.86))]
    assert judged(rows) == [[world, "R² above PCA's, worst", "≥ 0", "-0.01", "2", "**no**"]]


def test_spheres_are_held_against_the_version_before():
    world = "sphere-5-25"
    rows = [row(world, 0, r2=0.994, space="sphere"), row(world, 1, r2=0.994, space="flat")]
    rows.append(row(world, 0, "ours, random start", r2=0.995, space="sphere"))
    assert judged(rows) == [
        [world, "R² less that of before, medians", "≥ -0.002", "-0.001", "2", "yes"],
        [world, "sphere found", "always", "1 of 2", "2", "**no**"],
    ]
