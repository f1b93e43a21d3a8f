"""All claims judged from rows: the ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aninfonce_papers.claims import ours, ours_moving, rusak2025, rusak2025_images, zimmermann2021
from aninfonce_papers.claims.claim import Claim, Finding, Verdict
from aninfonce_papers.claims.evidence import Evidence

CHAPTERS: Mapping[str, Sequence[Claim]] = {
    "AnInfoNCE, known latents (Rusak et al., 2025)": rusak2025.CLAIMS,
    "AnInfoNCE, images (Rusak et al., 2025)": rusak2025_images.CLAIMS,
    "cl-ica (Zimmermann et al., 2021)": zimmermann2021.CLAIMS,
    "Ours": (*ours.CLAIMS, *ours_moving.CLAIMS),
}
LEGEND = {
    Verdict.REPRODUCED: "the rule holds for every value; a method that is meant to fail does fail",
    Verdict.EXCEEDED: "reproduced, and a value of several seeds is better than published by more than noise",
    Verdict.NOT_REACHED: "at least one value misses the rule; the line says why, as far as we measured that",
    Verdict.NOT_RUN: "at least one value has no row that can be compared, and none misses the rule",
}
READING = (
    "Ours is the mean over seeds ± their standard deviation. Where a claim has several values, its line"
    " quotes the best one if the claim is exceeded, the worst if it is not reached, and otherwise the one"
    " closest to missing the rule. “Laptop”, “overnight” and “paper” are sizes of runs."
)


@dataclass(frozen=True)
class Line:
    """A claim with what was found."""

    claim: Claim
    finding: Finding

    @property
    def studies(self) -> tuple[str, ...]:
        """Studies, and files of benchmarks, that its rows are from."""
        return tuple(dict.fromkeys(value.study for value in self.claim.rule.values))

    @property
    def seeds(self) -> tuple[int, int]:
        """Fewest and most seeds of a value that was run."""
        counts = [one.seeds for one in self.finding.measured if one.numbers]
        return (min(counts), max(counts)) if counts else (0, 0)

    @property
    def presets(self) -> tuple[str, ...]:
        """Sizes of the runs."""
        return tuple(dict.fromkeys(one.preset for one in self.finding.measured if one.ran))


@dataclass(frozen=True)
class Chapter:
    """The claims of one paper, or ours."""

    title: str
    lines: tuple[Line, ...]

    @property
    def counts(self) -> dict[Verdict, int]:
        """How often each verdict was given, in the order of the legend."""
        counted = Counter(line.finding.verdict for line in self.lines)
        return {verdict: counted[verdict] for verdict in Verdict if counted[verdict]}

    @property
    def leading(self) -> tuple[Line, ...]:
        """The claims that the README shows."""
        return tuple(line for line in self.lines if line.claim.leading)


def ledger(evidence: Evidence) -> tuple[Chapter, ...]:
    """Judge every claim.

    Args:
        evidence: what was measured.

    Returns:
        A chapter for each paper, and one for what we found ourselves.

    """
    return tuple(
        Chapter(title, tuple(Line(claim, claim.rule.judge(evidence)) for claim in claims))
        for title, claims in CHAPTERS.items()
    )
