"""Lines of the ledger in words: the values, how many seeds they rest on, and why a claim is not reached."""

from __future__ import annotations

from aninfonce_papers.claims import Chapter, Line, Measured, Verdict
from aninfonce_papers.claims.evidence import BENCHMARKS
from aninfonce_papers.engine import find_study
from aninfonce_papers.report.numbers import value

# Which of several values is quoted.
_WHICH = {
    Verdict.REPRODUCED: "closest",
    Verdict.EXCEEDED: "best",
    Verdict.NOT_REACHED: "worst",
    Verdict.NOT_RUN: "closest",
}


def held(line: Line) -> str:
    """Say how many of several comparisons hold; empty for one, and where nothing was run."""
    finding = line.finding
    return f"{finding.held} of {finding.total}" if finding.total > 1 and finding.telling else ""


def beside(line: Line) -> str:
    """Quote the values that say most, beside the published ones."""
    finding = line.finding
    if not finding.telling:
        known = [one.published.value for one in finding.measured if one.published]
        return f"published {value(min(known))} to {value(max(known))}" if known else ""
    which = f"{_WHICH[finding.verdict]}: " if finding.total > 1 else ""
    return which + "; ".join(_one(one) for one in finding.telling)


def sizes(line: Line) -> str:
    """Say how many seeds a line rests on, and at which preset; empty without rows."""
    low, high = line.seeds
    if not high:
        return ""
    seeds = f"{low} to {high} seeds" if low != high else f"{high} seed{'s' if high > 1 else ''}"
    return f"{seeds}, {' and '.join(line.presets)}"


def why(line: Line) -> str:
    """Give the reason of a claim that is not reached."""
    return line.claim.reason if line.finding.verdict is Verdict.NOT_REACHED else ""


def counted(chapter: Chapter) -> str:
    """Count the verdicts of a chapter."""
    return ", ".join(f"{number} {verdict}" for verdict, number in chapter.counts.items())


def named(study: str) -> str:
    """Name a study, or the file that a benchmark's rows are in.

    >>> named("fig2"), named("benchmarks/recordings")
    ('fig2', 'benchmarks/results/recordings.jsonl')
    """
    return study.replace(BENCHMARKS, f"{BENCHMARKS}results/") + (
        ".jsonl" if study.startswith(BENCHMARKS) else ""
    )


def _one(one: Measured) -> str:
    text = f"{one.value.cell}, {one.value.metric} "
    text += value(one.mean, one.spread) if one.numbers else "never"
    if one.published is None:
        return text
    study = one.value.study
    reference = "published" if study.startswith(BENCHMARKS) else find_study(study).reference
    return f"{text} ({reference} {value(one.published.value, one.published.spread)})"
