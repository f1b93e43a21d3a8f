"""Which rows count, and how they become a mean beside a published value."""

import json

import pytest

from aninfonce_papers.claims import Evidence, Value
from aninfonce_papers.claims.evidence import noise
from aninfonce_papers.engine import Published
from tests.aninfonce_papers.claims.rows import evidence, of, row, seeds


def find(found, cell, metric="R²"):
    return found.find(Value("s", cell, metric))


def test_means_over_seeds():
    found = find(evidence(seeds("a", 0.2, 0.4, 0.6, published=Published(0.5))), "a")
    assert (found.mean, found.spread, found.seeds) == pytest.approx((0.4, 0.2, 3))
    assert found.error == pytest.approx(0.2 / 3**0.5)
    assert found.published == Published(0.5)
    assert found.preset == "laptop"


def test_one_seed_has_no_spread():
    found = find(evidence(seeds("a", 0.2)), "a")
    assert found.spread is None
    assert found.error == 0.0


def test_what_was_not_run_has_the_printed_value_alone():
    found = find(evidence(seeds("a", 0.2)), "unrun")
    assert not found.ran
    assert found.numbers == ()
    assert found.published == Published(0.5)


def test_a_row_without_the_metric_ran_and_has_no_number():
    found = find(evidence(seeds("a", 0.2)), "a", "steps")
    assert found.ran
    assert found.numbers == ()


def test_failures_and_smoke_runs_do_not_count():
    found = evidence([row("a", 0.1, error="broke"), row("b", 0.1, preset="smoke")])
    assert not find(found, "a").ran
    assert not find(found, "b").ran


def test_the_largest_preset_counts():
    found = evidence([row("a", 0.9, preset="paper"), row("a", 0.1, configuration={"steps": 1})])
    assert find(found, "a").numbers == (0.9,)
    assert find(found, "a").preset == "paper"


def test_the_newest_configuration_counts_and_is_not_mixed_with_older_ones():
    old = seeds("a", 0.1, 0.2, 0.3, configuration={"steps": 1})
    new = seeds("a", 0.8, 0.9, configuration={"steps": 2})
    assert find(evidence(old, new), "a").numbers == (0.8, 0.9)


def test_rows_on_other_data_do_not_replace_those_that_can_be_compared():
    comparable = seeds("a", 0.8, published=Published(0.9), configuration={"data": "mnist"})
    other = seeds("a", 0.1, published=Published(0.9, goal="shown"), configuration={"data": "fashion"})
    assert find(evidence(comparable, other), "a").numbers == (0.8,)


def test_rows_of_benchmarks(tmp_path):
    rows = [
        {"setting": "skewed", "potential": flag, "seed": seed, "r2": 0.5 + 0.1 * seed, "folded": flag}
        for flag in (True, False)
        for seed in (0, 1)
    ]
    (tmp_path / "potential.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    found = Evidence([], tmp_path)
    value = found.find(Value("benchmarks/potential", "skewed, with β", "r2"))
    assert value.mean == pytest.approx(0.55)
    assert value.preset == "benchmark"
    assert found.find(Value("benchmarks/potential", "skewed, without β", "folded")).mean == 0.0
    assert not found.find(Value("benchmarks/recordings", "ar5, ours", "mcc")).ran


def test_noise_is_two_standard_errors_and_the_rounding():
    assert noise(0.02, 4, Published(0.9, precision=0.005)) == pytest.approx(0.025)
    # One seed borrows the published spread.
    assert noise(0.0, 1, Published(0.9, 0.03)) == pytest.approx(2 * 0.03 * 2**0.5)


def test_values_are_equal_by_what_they_name():
    assert of("a") == of("a")
    assert len({*of("a", "a", "b")}) == 2


def test_what_is_compared_is_of_one_size_where_there_is_one():
    longer = [row("a", 0.9, preset="overnight"), row("b", 0.5, preset="overnight")]
    found = evidence(longer, [row(cell, 0.1, configuration={"steps": 1}) for cell in "abc"])
    assert [one.preset for one in found.alike(*of("a", "b"))] == ["overnight", "overnight"]
    assert [one.mean for one in found.alike(*of("a", "c"))] == [0.1, 0.1]
    assert find(found, "a").mean == 0.9
    assert [one.ran for one in found.alike(*of("a", "unrun"))] == [True, False]
    assert found.alike(*of("a", "unrun"))[0].mean == 0.9
