"""An audit as one HTML page that needs no other file and no network."""

from __future__ import annotations

import json
from pathlib import Path

from aninfonce._files import write_whole
from aninfonce.diagnostics.audit import AuditReport
from aninfonce.diagnostics.finding import Finding
from aninfonce.plots.pages import PagePlot, page_template

_NUMBERS = "audit.json"


def write_audit(report: AuditReport, out: str | Path, *, name: str = "an encoder") -> Path:
    """Write the page of an audit, its plots as files, and all numbers as JSON.

    Args:
        report: from `aninfonce.diagnostics.audit`.
        out: folder, created if needed.
        name: of the encoder, for the heading.

    Returns:
        Path of the page.

    """
    folder = Path(out)
    parts = [(finding, _plot(finding)) for finding in report.findings]
    for _, plot in parts:
        if plot is not None:
            plot.save(folder / "plots")
    write_whole(folder / _NUMBERS, json.dumps(report.to_dict(), indent=1, ensure_ascii=False))
    page = folder / "index.html"
    template = page_template("audit.html.j2", "aninfonce.diagnostics")
    text = template.render(report=report, parts=parts, name=name, raw=_NUMBERS)
    write_whole(page, text)
    return page


def _plot(finding: Finding) -> PagePlot | None:
    """Draw a finding, if it has anything to draw."""
    if finding.draw is None:
        return None
    description = f"{finding.title}: {finding.measure}" if finding.measure else finding.title
    return PagePlot.of(finding.name, description, finding.figure())
