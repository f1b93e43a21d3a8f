"""Results beside the published values: a page for the browser, and Markdown for the docs."""

from aninfonce_papers.report.compare import Comparison, Section, compare, judge, sections
from aninfonce_papers.report.html import write_report
from aninfonce_papers.report.markdown import write_markdown

__all__ = [
    "Comparison",
    "Section",
    "compare",
    "judge",
    "sections",
    "write_markdown",
    "write_report",
]
