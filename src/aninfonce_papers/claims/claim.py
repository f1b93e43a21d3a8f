"""A claim: a sentence, the rule that judges it, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from aninfonce_papers.claims.evidence import Evidence, Measured, Value


class Verdict(StrEnum):
    """What the rows say about a claim."""

    REPRODUCED = "reproduced"
    EXCEEDED = "exceeded"
    NOT_REACHED = "not reached"
    NOT_RUN = "not run"


@dataclass(frozen=True)
class Finding:
    """What a rule found.

    Attributes:
        verdict: of the rule.
        measured: everything that it looked at.
        held: how many of its comparisons hold.
        total: how many there are.
        telling: the values to quote: the best one of an exceeded claim, else the one that is worst off; of a
            series, both ends.

    """

    verdict: Verdict
    measured: tuple[Measured, ...]
    held: int
    total: int
    telling: tuple[Measured, ...] = ()


class Rule(Protocol):
    """Judges a claim from what was measured."""

    @property
    def words(self) -> str:
        """What is asked, in words."""

    @property
    def values(self) -> tuple[Value, ...]:
        """The values that it looks at."""

    def judge(self, evidence: Evidence) -> Finding:
        """Judge by what was measured."""


@dataclass(frozen=True)
class Claim:
    """A sentence that is judged from committed rows.

    Attributes:
        where: place in the paper, such as "Figure 2 A", or the topic of a claim of ours.
        sentence: what is claimed, in our words.
        rule: judges it.
        reason: why it is not reached, as far as we measured that; shown only then.
        caveat: how our rows differ from the paper's, such as other data; always shown.
        leading: whether it is one of the few that the README shows.

    """

    where: str
    sentence: str
    rule: Rule
    reason: str = ""
    caveat: str = ""
    leading: bool = False
