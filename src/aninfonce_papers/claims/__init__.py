"""Claims of the papers, and ours, each judged by a rule from committed rows."""

from aninfonce_papers.claims.claim import Claim, Finding, Rule, Verdict
from aninfonce_papers.claims.evidence import Evidence, Measured, Value
from aninfonce_papers.claims.ledger import LEGEND, READING, Chapter, Line, ledger

__all__ = [
    "LEGEND",
    "READING",
    "Chapter",
    "Claim",
    "Evidence",
    "Finding",
    "Line",
    "Measured",
    "Rule",
    "Value",
    "Verdict",
    "ledger",
]
