"""Each rule on made-up rows: reproduced, exceeded, not reached, not run, and meant to fail."""

import pytest

from aninfonce_papers.claims import Verdict
from aninfonce_papers.claims.rules import (
    all_of,
    at_least,
    at_least_published,
    at_most,
    fails_as_published,
    falls_along,
    leaves_at_most,
    misses,
    near_published,
    not_below,
    optimum_at,
    order_holds,
)
from aninfonce_papers.engine import Published
from tests.aninfonce_papers.claims.rows import evidence, of, seeds

REPRODUCED, EXCEEDED, NOT_REACHED, NOT_RUN = Verdict


def verdict(rule, *rows):
    return rule.judge(evidence(*rows)).verdict


def exact(value, **others):
    return Published(value, **others)


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ((0.90, 0.90), REPRODUCED),
        ((0.895, 0.895), REPRODUCED),  # within the margin
        ((0.88, 0.88), NOT_REACHED),
        ((0.80, 0.98), REPRODUCED),  # as noisy as that, nothing tells .89 from .90
        ((0.95, 0.95), EXCEEDED),
        ((0.95,), REPRODUCED),  # one seed cannot exceed
        ((), NOT_RUN),
    ],
)
def test_at_least_published(numbers, expected):
    rule = at_least_published(of("a"), 0.01)
    assert verdict(rule, seeds("a", *numbers, published=exact(0.9))) == expected


def test_better_is_lower_or_nearer_where_the_published_value_says_so():
    lower = seeds("a", 5.0, 5.0, published=exact(9.0, goal="lower"))
    nearer = seeds("b", 24.0, 24.0, published=exact(22.0, goal="target", target=25.0))
    assert verdict(at_least_published(of("a")), lower) == EXCEEDED
    assert verdict(at_least_published(of("b")), nearer) == EXCEEDED
    beyond = seeds("b", 29.0, 29.0, published=exact(22.0, goal="target", target=25.0))
    assert verdict(at_least_published(of("b")), beyond) == NOT_REACHED


def test_a_method_to_compare_with_exceeds_nothing():
    rows = seeds("a", 0.99, 0.99, published=exact(0.9))
    assert verdict(at_least_published(of("a"), merit=False), rows) == REPRODUCED


def test_every_value_must_hold_and_the_worst_is_told():
    good = seeds("good", 0.95, 0.95, published=exact(0.9))
    bad = seeds("bad", 0.5, 0.5, published=exact(0.9))
    worse = seeds("worse", 0.4, 0.4, published=exact(0.9))
    found = at_least_published(of("good", "bad", "worse")).judge(evidence(good, bad, worse))
    assert (found.verdict, found.held, found.total) == (NOT_REACHED, 1, 3)
    assert [one.value.cell for one in found.telling] == ["worse"]


def test_a_value_without_rows_keeps_a_claim_from_being_reproduced():
    good = seeds("a", 0.9, 0.9, published=exact(0.9))
    assert verdict(at_least_published(of("a", "unrun")), good) == NOT_RUN
    bad = seeds("a", 0.1, 0.1, published=exact(0.9))
    assert verdict(at_least_published(of("a", "unrun")), bad) == NOT_REACHED


def test_rows_on_other_data_have_nothing_to_compare_with():
    assert verdict(at_least_published(of("a")), seeds("a", 0.1)) == NOT_RUN


def test_a_level_that_was_never_come_to_is_missed_only_where_that_is_asked():
    rows = seeds("a", None, published=exact(100.0, goal="lower"))
    assert verdict(at_least_published(of("a")), rows) == NOT_RUN
    assert verdict(at_least_published(of("a"), absence_misses=True), rows) == NOT_REACHED


@pytest.mark.parametrize(
    ("number", "expected"), [(0.5, REPRODUCED), (0.58, NOT_REACHED), (0.42, NOT_REACHED)]
)
def test_near_published_has_two_sides(number, expected):
    assert verdict(near_published(of("a"), 0.05), seeds("a", number, published=exact(0.5))) == expected


def test_what_is_meant_to_fail_is_reproduced_by_failing():
    fails, works = seeds("a", 0.02, published=exact(0.01)), seeds("a", 0.9, published=exact(0.01))
    rule = fails_as_published(of("a"), 0.05)
    assert verdict(rule, fails) == REPRODUCED
    assert verdict(rule, works) == NOT_REACHED
    assert verdict(rule) == NOT_RUN
    assert verdict(rule, seeds("a", 0.05)) == NOT_REACHED  # below, not at
    assert "meant to fail" in rule.words


def test_optimum_at():
    rule = optimum_at(of("a"), 50, 0.05)
    assert verdict(rule, seeds("a", 52.0)) == REPRODUCED
    assert verdict(rule, seeds("a", 47.0)) == NOT_REACHED
    assert rule.words == "each within 5% of 50"


def test_a_bias_that_is_meant_to_be_there():
    off, true = seeds("a", 5.2, published=exact(5.0)), seeds("a", 5.01, published=exact(5.0))
    assert verdict(misses(of("a"), 0.01), off) == REPRODUCED
    assert verdict(misses(of("a"), 0.01), true) == NOT_REACHED


def test_bounds_hold_at_the_bound():
    rows = seeds("a", 0.5)
    assert verdict(at_least(of("a"), 0.5), rows) == verdict(at_most(of("a"), 0.5), rows) == REPRODUCED
    assert verdict(at_least(of("a"), 0.6), rows) == verdict(at_most(of("a"), 0.4), rows) == NOT_REACHED
    assert at_most(of("a"), -0.5).words == "each at most −0.5"


def test_order_holds():
    high, low = of("high", "low")
    clear = (seeds("high", 0.9, 0.92), seeds("low", 0.5, 0.52))
    noisy = (seeds("high", 0.5, 0.92), seeds("low", 0.3, 0.8))
    assert verdict(order_holds((high, low)), *clear) == REPRODUCED
    assert verdict(order_holds((low, high)), *clear) == NOT_REACHED
    assert verdict(order_holds((high, low)), *noisy) == NOT_REACHED
    assert verdict(order_holds((high, low), by=0.5), *clear) == NOT_REACHED
    assert verdict(order_holds((high, low)), clear[0]) == NOT_RUN
    found = order_holds((high, low), (low, high)).judge(evidence(*clear))
    assert (found.held, found.total) == (1, 2)
    assert [one.value.cell for one in found.telling] == ["low", "high"]
    assert len(found.measured) == 2


def test_equal_is_not_above():
    high, low = of("high", "low")
    assert verdict(order_holds((high, low)), seeds("high", 0.5), seeds("low", 0.5)) == NOT_REACHED


def test_as_good_as_another_up_to_a_margin_or_noise():
    pair = of("one", "other")
    assert verdict(not_below(pair), seeds("one", 0.5), seeds("other", 0.5)) == REPRODUCED
    assert verdict(not_below(pair), seeds("one", 0.49), seeds("other", 0.5)) == NOT_REACHED
    assert verdict(not_below(pair, margin=0.02), seeds("one", 0.49), seeds("other", 0.5)) == REPRODUCED
    noisy = seeds("one", 0.47, 0.51)
    assert verdict(not_below(pair), noisy, seeds("other", 0.5)) == REPRODUCED
    assert "up to 0.02 or noise" in not_below(pair, margin=0.02).words


def test_leaves_at_most():
    better, worse = of("better", "worse")
    rule = leaves_at_most(0.5, (better, worse))
    assert verdict(rule, seeds("better", 0.96), seeds("worse", 0.9)) == REPRODUCED
    assert verdict(rule, seeds("better", 0.94), seeds("worse", 0.9)) == NOT_REACHED
    assert verdict(rule, seeds("better", 0.95)) == NOT_RUN
    found = rule.judge(evidence(seeds("better", 0.95), seeds("worse", 0.9)))
    assert [one.value.cell for one in found.telling] == ["better", "worse"]
    assert "at most 0.5" in rule.words


def test_falls_along():
    series = of("a", "b", "c")
    falling = (seeds("a", 0.9), seeds("b", 0.9), seeds("c", 0.5))
    rising = (seeds("a", 0.9), seeds("b", 0.95), seeds("c", 0.5))
    flat = (seeds("a", 0.9), seeds("b", 0.9), seeds("c", 0.9))
    assert verdict(falls_along(series), *falling) == REPRODUCED
    assert verdict(falls_along(series), *rising) == NOT_REACHED
    assert verdict(falls_along(series), *flat) == NOT_REACHED
    assert verdict(falls_along(series), *falling[:2]) == NOT_RUN
    assert verdict(falls_along(series)) == NOT_RUN
    # A rise within noise is none.
    assert (
        verdict(falls_along(series), seeds("a", 0.9, 0.98), seeds("b", 0.93, 0.99), falling[2]) == REPRODUCED
    )


def test_all_of_is_as_good_as_its_worst_part():
    good = seeds("a", 0.95, 0.95, published=exact(0.9))
    exceeds, holds, fails = at_least_published(of("a")), at_least(of("a"), 0.9), at_least(of("a"), 0.99)
    unrun = at_least(of("unrun"), 0.0)
    assert verdict(all_of(exceeds, holds), good) == EXCEEDED
    assert verdict(all_of(holds, holds), good) == REPRODUCED
    assert verdict(all_of(exceeds, unrun), good) == NOT_RUN
    assert verdict(all_of(exceeds, unrun, fails), good) == NOT_REACHED
    found = all_of(exceeds, holds, fails).judge(evidence(good))
    assert (found.held, found.total, len(found.measured)) == (2, 3, 1)
    assert all_of(holds, holds).words == holds.words
