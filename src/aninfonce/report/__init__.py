"""Results beside the published values, and audits: one HTML page each, and Markdown for the docs."""

from aninfonce.report.audit import write_audit
from aninfonce.report.compare import Comparison, Section, compare, judge, sections
from aninfonce.report.html import write_report
from aninfonce.report.markdown import write_markdown

__all__ = [
    "Comparison",
    "Section",
    "compare",
    "judge",
    "sections",
    "write_audit",
    "write_markdown",
    "write_report",
]
