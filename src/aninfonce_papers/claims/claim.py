"""A claim: a sentence, the rule that judges it, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from aninfonce_papers.claims.evidence import Evidence, Measured, Value


class Verdict(StrEnum):
    """What rows say of a claim."""

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
        telling: those values that say most: the worst where one is missed, else the best or the tightest.

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
        """What is asked, for people."""

    @property
    def values(self) -> tuple[Value, ...]:
        """What is looked at."""

    def judge(self, evidence: Evidence) -> Finding:
        """Look, and say what was found."""


@dataclass(frozen=True)
class Claim:
    """A sentence that committed rows can bear out or not.

    Attributes:
        where: it stands, such as "Figure 2 A".
        sentence: what is claimed, in our words.
        rule: that judges it.
        reason: why it is not reached, as far as that was measured; told only then.
        caveat: in what the rows differ from the paper's, such as other data; always told.
        leading: whether it is one of the few that the README shows.

    """

    where: str
    sentence: str
    rule: Rule
    reason: str = ""
    caveat: str = ""
    leading: bool = False
