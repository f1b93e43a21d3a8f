"""Results as one HTML page that needs no other file and no network."""

from __future__ import annotations

import os
from pathlib import Path

from aninfonce.extending import PagePlot, page_template, write_whole
from aninfonce_papers.claims import LEGEND, READING, Verdict
from aninfonce_papers.engine import ResultStore
from aninfonce_papers.report import telling
from aninfonce_papers.report.compare import Section, judged
from aninfonce_papers.report.numbers import signed, value
from aninfonce_papers.report.sparkline import sparkline

# Classes of the style sheet that give verdicts their colours.
_COLOURS = {
    Verdict.REPRODUCED: "fine",
    Verdict.EXCEEDED: "better",
    Verdict.NOT_REACHED: "worse",
    Verdict.NOT_RUN: "not-judged",
}


def write_report(
    directory: str | Path, out: str | Path | None = None, *, benchmarks: str | Path | None = None
) -> Path:
    """Write the page of a directory of results, and its plots as files.

    Args:
        directory: where `aninfonce run` wrote.
        out: folder of the page, with `plots/` in it; `directory`/report if omitted.
        benchmarks: folder of the benchmarks' rows, for claims about these.

    Returns:
        Path of the page. A `ValueError` if there are no results.

    """
    store = ResultStore(directory)
    found, chapters = judged(store, benchmarks)
    folder = Path(out) if out is not None else store.directory / "report"
    parts = [(section, _draw(section)) for section in found]
    for _, plots in parts:
        for plot in plots:
            plot.save(folder / "plots")
    template = page_template(
        "page.html.j2", __package__, {"value": value, "signed": signed, "spark": sparkline}
    )
    page = template.render(
        chapters=[chapter for chapter in chapters if set(chapter.counts) - {Verdict.NOT_RUN}],
        told=telling,
        legend=LEGEND,
        reading=READING,
        colours=_COLOURS,
        tables={section.study.name: section.slug for section, _ in parts},
        parts=parts,
        raw=Path(os.path.relpath(store.path, folder)).as_posix(),
        failures=[row for section, _ in parts for row in section.failures],
    )
    path = folder / "index.html"
    write_whole(path, page)
    return path


def _draw(section: Section) -> list[PagePlot]:
    """Draw all figures of a section; none if nothing succeeded."""
    drawn = section.study.plot(section.rows) if section.rows else {}
    return [
        PagePlot.of(f"{section.slug}-{name}", f"{section.study.title}: {name}", figure)
        for name, figure in drawn.items()
    ]
