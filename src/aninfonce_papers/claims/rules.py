"""Rules that judge claims: small ones, put together by `all_of`.

Rules over single values (`at_least_published`, `near_published`, `fails_as_published`, `optimum_at`,
`at_least`, `at_most`) hold if they hold for every value. `order_holds`, `not_below`, `leaves_at_most` and
`falls_along` compare values with each other. No rule looks at anything but means over seeds, their spread,
and published values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from aninfonce_papers.claims.claim import Finding, Rule, Verdict
from aninfonce_papers.claims.evidence import Evidence, Measured, Value, noise
from aninfonce_papers.engine import Published


@dataclass(frozen=True)
class Margin:
    """How far a value is on the good side of what is asked, and by how much it may miss it."""

    gain: float
    allowed: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether what is asked is met; a value that is not a number meets nothing."""
        return self.gain >= -self.allowed

    @property
    def exceeds(self) -> bool:
        """Whether it is better by more than it is allowed to be worse."""
        return self.gain > self.allowed


@dataclass(frozen=True)
class EachValue:
    """Ask the same of each value.

    Attributes:
        values: to look at.
        words: what is asked.
        margin: of one of them.
        against_published: whether it compares with published values; a row without one, such as a run on
            other data, then does not count.
        absence_misses: whether a row without the metric counts as a miss, such as a level that a run never
            reached; otherwise the value counts as not measured.
        can_exceed: whether doing better exceeds the claim.

    """

    values: tuple[Value, ...]
    words: str
    margin: Callable[[Measured], Margin]
    against_published: bool = False
    absence_misses: bool = False
    can_exceed: bool = False

    def judge(self, evidence: Evidence) -> Finding:
        """Hold each value against what is asked; none may miss it."""
        found = tuple(evidence.find(value) for value in self.values)
        judged = [(one, self.margin(one)) for one in found if self._counts(one)]
        missed = [pair for pair in judged if not pair[1].holds]
        # One seed can reproduce a claim but not exceed it: that may be luck.
        better = [pair for pair in judged if self.can_exceed and pair[1].exceeds and pair[0].seeds > 1]
        verdict = _verdict(len(judged), len(found), bool(missed), bool(better))
        # Missed or merely held: the one that is worst off. Exceeded: the one that gained most.
        if verdict is Verdict.EXCEEDED:
            telling = [max(better, key=_gain)[0]]
        else:
            telling = [min(judged, key=_gain)[0]] if judged else []
        return Finding(verdict, found, len(judged) - len(missed), len(found), tuple(telling))

    def _counts(self, one: Measured) -> bool:
        measured = bool(one.numbers) or (one.ran and self.absence_misses)
        return measured and (one.published is not None or not self.against_published)


def at_least_published(
    values: Sequence[Value], margin: float = 0.0, *, merit: bool = True, absence_misses: bool = False
) -> Rule:
    """Ask each value to be as good as the published one.

    Lower is as good where the published value says so, and nearer to its target where it has one.

    Args:
        values: to look at.
        margin: by which it may be worse, or by noise where that is more.
        merit: whether being better exceeds the claim; not for a method that only serves as a comparison.
        absence_misses: whether a row without the metric is a miss.

    Returns:
        The rule.

    """

    def score(one: Measured) -> Margin:
        known = _known(one)
        gain = one.mean - known.value
        if known.target is not None:
            gain = abs(known.value - known.target) - abs(one.mean - known.target)
        elif known.goal == "lower":
            gain = -gain
        return Margin(gain, max(margin, noise(one.spread or 0.0, one.seeds, known)))

    return EachValue(
        tuple(values),
        f"each at least as good as published, up to {_slack(margin)}",
        score,
        against_published=True,
        absence_misses=absence_misses,
        can_exceed=merit,
    )


def near_published(values: Sequence[Value], margin: float = 0.0) -> Rule:
    """Ask each value to be the published one, in neither direction further from it than `margin` or noise."""

    def score(one: Measured) -> Margin:
        known = _known(one)
        allowed = max(margin, noise(one.spread or 0.0, one.seeds, known))
        return Margin(-abs(one.mean - known.value), allowed)

    words = f"each at its reference value, up to {_slack(margin)}"
    return EachValue(tuple(values), words, score, against_published=True)


def fails_as_published(values: Sequence[Value], below: float) -> Rule:
    """Ask a method that is meant to fail to do so: each value stays below a bound."""
    return EachValue(
        tuple(values), f"meant to fail: each below {below:g}", lambda one: _strict(below - one.mean)
    )


def optimum_at(values: Sequence[Value], target: float, tolerance: float) -> Rule:
    """Ask each value to be the optimum that theory gives, up to a share of it."""

    def score(one: Measured) -> Margin:
        return Margin(-abs(one.mean - target), tolerance * abs(target))

    return EachValue(tuple(values), f"each within {tolerance:.0%} of {target:g}", score)


def misses(values: Sequence[Value], tolerance: float) -> Rule:
    """Ask each value to be off its reference by more than a share of it: a bias that is meant to be there."""

    def score(one: Measured) -> Margin:
        known = _known(one).value
        return _strict(abs(one.mean - known) - tolerance * abs(known))

    words = f"meant to be off: each by more than {tolerance:.0%}"
    return EachValue(tuple(values), words, score, against_published=True)


def at_least(values: Sequence[Value], limit: float) -> Rule:
    """Ask each value for at least `limit`."""
    return EachValue(tuple(values), f"each at least {_plain(limit)}", lambda one: Margin(one.mean - limit))


def at_most(values: Sequence[Value], limit: float) -> Rule:
    """Ask each value for at most `limit`."""
    return EachValue(tuple(values), f"each at most {_plain(limit)}", lambda one: Margin(limit - one.mean))


@dataclass(frozen=True)
class EachPair:
    """Ask the same of each pair of values.

    Attributes:
        pairs: to compare, at the largest size that both were run at.
        words: what is asked.
        margin: of a pair.

    """

    pairs: tuple[tuple[Value, Value], ...]
    words: str
    margin: Callable[[Measured, Measured], Margin]

    @property
    def values(self) -> tuple[Value, ...]:
        """All that is compared, each once."""
        return tuple(dict.fromkeys(value for pair in self.pairs for value in pair))

    def judge(self, evidence: Evidence) -> Finding:
        """Compare each pair; none may miss what is asked."""
        found = [evidence.alike(*pair) for pair in self.pairs]
        judged = [
            ((first, second), self.margin(first, second))
            for first, second in found
            if first.numbers and second.numbers
        ]
        missed = [margin for _, margin in judged if not margin.holds]
        telling = min(judged, key=lambda one: one[1].gain)[0] if judged else ()
        verdict = _verdict(len(judged), len(found), bool(missed), False)
        measured = tuple(dict.fromkeys(one for pair in found for one in pair))
        return Finding(verdict, measured, len(judged) - len(missed), len(found), telling)


def order_holds(*pairs: tuple[Value, Value], by: float = 0.0) -> Rule:
    """Ask the first of each pair to be above the second, by more than noise and by at least `by`."""

    def margin(high: Measured, low: Measured) -> Margin:
        return _strict(high.mean - low.mean - max(by, 2.0 * math.hypot(high.error, low.error)))

    gap = f" by {by:g} and" if by else ""
    return EachPair(pairs, f"the first above the second{gap} by more than two standard errors", margin)


def not_below(*pairs: tuple[Value, Value], margin: float = 0.0) -> Rule:
    """Ask the first of each pair to be as good as the second, up to `margin`, or noise where that is more."""

    def score(first: Measured, second: Measured) -> Margin:
        allowed = max(margin, 2.0 * math.hypot(first.error, second.error))
        return Margin(first.mean - second.mean, allowed)

    return EachPair(pairs, f"the first as good as the second, up to {_slack(margin)}", score)


def leaves_at_most(share: float, *pairs: tuple[Value, Value]) -> Rule:
    """Ask the first of each pair to fall short of 1 by at most `share` of what the second does."""

    def margin(better: Measured, worse: Measured) -> Margin:
        return Margin(share * (1.0 - worse.mean) - (1.0 - better.mean))

    return EachPair(pairs, f"the first falls short of 1 by at most {share:g} of what the second does", margin)


@dataclass(frozen=True)
class FallsAlong:
    """Ask each series never to rise by more than noise, and to end clearly below its start."""

    series: tuple[tuple[Value, ...], ...]
    words: str = "each series never rises by more than noise, and ends clearly below its start"

    @property
    def values(self) -> tuple[Value, ...]:
        """All series, one after the other."""
        return tuple(dict.fromkeys(value for one in self.series for value in one))

    def judge(self, evidence: Evidence) -> Finding:
        """Follow each series."""
        followed = [evidence.alike(*one) for one in self.series]
        measured = tuple(dict.fromkeys(one for found in followed for one in found))
        complete = [found for found in followed if all(one.numbers for one in found)]
        rising = [found for found in complete if not _falls(found)]
        ends = rising or complete
        telling = (ends[0][0], ends[0][-1]) if ends else ()
        verdict = _verdict(len(complete), len(self.series), bool(rising), False)
        return Finding(verdict, measured, len(complete) - len(rising), len(self.series), telling)


def falls_along(*series: Sequence[Value]) -> Rule:
    """Ask each series never to rise by more than noise, and to end clearly below its start."""
    return FallsAlong(tuple(tuple(one) for one in series))


@dataclass(frozen=True)
class AllOf:
    """Ask everything that several rules ask."""

    rules: tuple[Rule, ...]

    @property
    def values(self) -> tuple[Value, ...]:
        """What any of them looks at."""
        return tuple(dict.fromkeys(value for rule in self.rules for value in rule.values))

    @property
    def words(self) -> str:
        """What all of them ask."""
        return "; ".join(dict.fromkeys(rule.words for rule in self.rules))

    def judge(self, evidence: Evidence) -> Finding:
        """Take the worst verdict, and quote the values of its rule."""
        found = [rule.judge(evidence) for rule in self.rules]
        worst = max(found, key=lambda one: _SEVERITY.index(one.verdict))
        # A merit of one part is a merit of the whole, if no part is missed.
        verdict = worst.verdict
        telling = worst.telling
        better = [one for one in found if one.verdict is Verdict.EXCEEDED]
        if verdict is Verdict.REPRODUCED and better:
            verdict, telling = Verdict.EXCEEDED, better[0].telling
        measured = tuple(dict.fromkeys(one for part in found for one in part.measured))
        return Finding(
            verdict, measured, sum(one.held for one in found), sum(one.total for one in found), telling
        )


def all_of(*rules: Rule) -> Rule:
    """Ask everything that several rules ask."""
    return AllOf(rules)


_SEVERITY = (Verdict.EXCEEDED, Verdict.REPRODUCED, Verdict.NOT_RUN, Verdict.NOT_REACHED)


def _verdict(judged: int, total: int, missed: bool, better: bool) -> Verdict:
    """Turn counts into a verdict: a miss decides, even where other rows are absent."""
    if missed:
        return Verdict.NOT_REACHED
    if judged < total:
        return Verdict.NOT_RUN
    return Verdict.EXCEEDED if better else Verdict.REPRODUCED


def _slack(margin: float) -> str:
    return f"{margin:g} or noise" if margin else "noise"


def _plain(number: float) -> str:
    return f"{number:g}".replace("-", "−")


def _gain(pair: tuple[Measured, Margin]) -> float:
    """Sort by gain; one that is not a number comes first."""
    return -math.inf if math.isnan(pair[1].gain) else pair[1].gain


def _strict(gain: float) -> Margin:
    """Require a gain above 0: one of exactly 0 misses."""
    return Margin(gain if gain > 0.0 else min(gain, -math.ulp(0.0)))


def _falls(found: Sequence[Measured]) -> bool:
    steps = all(
        later.mean <= earlier.mean + 2.0 * math.hypot(earlier.error, later.error)
        for earlier, later in pairwise(found)
    )
    first, last = found[0], found[-1]
    return steps and last.mean < first.mean - 2.0 * math.hypot(first.error, last.error)


def _known(one: Measured) -> Published:
    assert one.published is not None  # others do not count
    return one.published
