"""Clocks that count what they should."""

import time

from benchmarks.timing import best_seconds, seconds_a_step, timed


def test_waiting_is_no_work():
    with timed() as spent:
        time.sleep(0.05)
    assert spent.wall >= 0.05
    assert spent.cpu < spent.wall


def test_a_step_is_a_share_of_all_steps():
    wall, cpu = seconds_a_step(lambda: time.sleep(0.01), 5)
    assert wall >= 0.01
    assert cpu < 0.01


def test_the_best_round_of_each():
    sizes = {"much": 200_000, "little": 1_000}
    best = best_seconds({name: lambda n=n: sum(range(n)) for name, n in sizes.items()}, rounds=3)
    assert 0 < best["little"] < best["much"]
