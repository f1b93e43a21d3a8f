"""The audit: every finding about one encoder and one set of pairs, and their page."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from aninfonce._files import write_whole
from aninfonce.diagnostics.calibration import calibration
from aninfonce.diagnostics.classes import classes
from aninfonce.diagnostics.collapse import collapse
from aninfonce.diagnostics.conditional import conditional
from aninfonce.diagnostics.finding import Finding, Look
from aninfonce.diagnostics.homogeneity import homogeneity
from aninfonce.diagnostics.identifiability import identifiability
from aninfonce.diagnostics.overlap import overlap
from aninfonce.diagnostics.readout import readout
from aninfonce.diagnostics.sample import Augmentations, make_sample
from aninfonce.diagnostics.shift import shift
from aninfonce.diagnostics.spectrum import spectrum
from aninfonce.diagnostics.uniformity import uniformity
from aninfonce.plots.pages import PagePlot, page_template
from aninfonce.plots.tables import html_table

_NUMBERS = "audit.json"

# What was kept and lost first, then what the data break.
FINDINGS: tuple[Look, ...] = (
    identifiability,
    classes,
    readout,
    collapse,
    spectrum,
    overlap,
    uniformity,
    conditional,
    homogeneity,
    shift,
    calibration,
)


@dataclass(frozen=True)
class AuditReport:
    """What an audit found.

    Attributes:
        findings: in the order in which to read them.
        pairs: number of pairs that were looked at.
        dim: columns of the embedding.
        loss: that the encoder was trained with, such as "AnInfoNCE"; None if it is not known.

    """

    findings: tuple[Finding, ...]
    pairs: int
    dim: int
    loss: str | None = None

    @property
    def concerns(self) -> tuple[Finding, ...]:
        """Findings that ask for something to be done."""
        return tuple(finding for finding in self.findings if finding.concern)

    def __getitem__(self, name: str) -> Finding:
        """Give a finding by name."""
        for finding in self.findings:
            if finding.name == name:
                return finding
        raise KeyError(f"{name!r} is none of {[finding.name for finding in self.findings]}")

    def __str__(self) -> str:
        """Write one line per finding: "!" asks for attention, "?" for more pairs, "-" was not judged."""
        return "\n".join(str(finding) for finding in self.findings)

    def _repr_html_(self) -> str:
        """Show the findings as a table in a notebook, what asks for attention first."""
        words = {"concern": "look here", "undetermined": "cannot tell"}
        order = ("concern", "undetermined", "fine", "not judged")
        found = sorted(self.findings, key=lambda finding: order.index(finding.status))
        rows = [[words.get(f.status, f.status), f.title, f.number or "–", f.advice] for f in found]
        trained = f", trained with {self.loss}" if self.loss else ""
        head = escape(f"Audit: {self.pairs} pairs, {self.dim} columns{trained}")
        table = html_table(["", "finding", "value, 95 % interval", "what to do"], rows, min_width="40em")
        return f"<div><b>{head}</b>{table}</div>"

    def to_dict(self) -> dict[str, Any]:
        """Everything but the plots, as JSON types."""
        findings = [finding.to_dict() for finding in self.findings]
        return {"pairs": self.pairs, "dim": self.dim, "loss": self.loss, "findings": findings}


def audit(
    encoder: Any,
    data: Any,
    augmentations: Augmentations | None = None,
    latents: Any = None,
    labels: Any = None,
    *,
    max_pairs: int = 4096,
    seed: int = 0,
) -> AuditReport:
    """See what an encoder kept and lost, and which assumption of contrastive learning its data break.

    Example:
        >>> from aninfonce.processes import process
        >>> report = audit(lambda x: x[:, :5], process("fig2/25", mixing="identity"), max_pairs=1000)
        >>> report["identifiability"].concern, report["collapse"].concern
        (True, False)

    Args:
        encoder: anything that embeds: a module, a function from rows (n, ...) to (n, d), a fitted estimator
            with `transform`, or a `Fitted` run. The last two know their loss, and the advice allows for it.
        data: pairs (x, x_pos), arrays, tensors or frames of one shape (N, ...); a `PairBatch`; a process;
            observations x alone, whose positives then are `augmentations` of them; or a callable that gives
            one of these. Functions get the rows of a frame as an array.
        augmentations: by name, functions from rows to changed rows of the same shape.
        latents: (N, k) causes of x, if known (a process brings its own).
        labels: (N,) classes of x, if known.
        max_pairs: largest number of pairs to look at, drawn at random from those given.
        seed: of everything that is random in the audit.

    Returns:
        The report; `write_audit` makes a page of it.

    """
    sample = make_sample(encoder, data, augmentations, latents, labels, max_pairs=max_pairs, seed=seed)
    findings = [finding for look in FINDINGS if (finding := look(sample)) is not None]
    if sample.constant:
        # The collapse comes first: it is why the others are not judged.
        findings.sort(key=lambda finding: finding.name != "collapse")
    return AuditReport(tuple(findings), len(sample), sample.dim, sample.run.loss)


def write_audit(report: AuditReport, out: str | Path, *, name: str = "an encoder") -> Path:
    """Write an audit as one HTML page that needs no other file and no network, its plots, and its numbers.

    Args:
        report: from `audit`.
        out: folder, created if needed.
        name: of the encoder, for the heading.

    Returns:
        Path of the page.

    """
    folder = Path(out)
    parts: list[tuple[Finding, PagePlot | None]] = []
    for finding in report.findings:
        plot = None
        if finding.draw is not None:
            description = f"{finding.title}: {finding.measure}" if finding.measure else finding.title
            plot = PagePlot.of(finding.name, description, finding.figure())
            plot.save(folder / "plots")
        parts.append((finding, plot))
    write_whole(folder / _NUMBERS, json.dumps(report.to_dict(), indent=1, ensure_ascii=False))
    template = page_template("audit.html.j2", "aninfonce.diagnostics")
    page = folder / "index.html"
    write_whole(page, template.render(report=report, parts=parts, name=name, raw=_NUMBERS))
    return page
