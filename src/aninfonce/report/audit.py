"""An audit as one HTML page that needs no other file and no network."""

from __future__ import annotations

import json
from pathlib import Path

from aninfonce.diagnostics import AuditReport
from aninfonce.report.figures import Plot
from aninfonce.report.html import template

_NUMBERS = "audit.json"


def write_audit(report: AuditReport, out: str | Path, *, name: str = "an encoder") -> Path:
    """Write the page of an audit, its plots as files, and all numbers as JSON.

    Args:
        report: from `aninfonce.diagnostics.audit`.
        out: folder, made if it is not there.
        name: of the encoder, for the heading.

    Returns:
        Path of the page.

    """
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    parts = [
        (finding, Plot.of(finding.name, f"{finding.title}: {finding.measure}", finding.figure()))
        for finding in report.findings
    ]
    for _, plot in parts:
        plot.save(folder / "plots")
    (folder / _NUMBERS).write_text(
        json.dumps(report.to_dict(), indent=1, ensure_ascii=False), encoding="utf-8"
    )
    page = folder / "index.html"
    text = template("audit.html.j2").render(report=report, parts=parts, name=name, raw=_NUMBERS)
    page.write_text(text, encoding="utf-8")
    return page
