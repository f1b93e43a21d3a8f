"""Results as one HTML page that needs no other file and no network."""

from __future__ import annotations

import os
from pathlib import Path

from aninfonce.extending import page_template, write_whole
from aninfonce_papers.engine import ResultStore
from aninfonce_papers.report.compare import sections
from aninfonce_papers.report.figures import draw
from aninfonce_papers.report.numbers import signed, value


def write_report(directory: str | Path, out: str | Path | None = None) -> Path:
    """Write the page of a directory of results, and its plots as files.

    Args:
        directory: where `aninfonce run` wrote.
        out: folder of the page, with `plots/` in it; `directory`/report if omitted.

    Returns:
        Path of the page. A `ValueError` if there are no results.

    """
    store = ResultStore(directory)
    rows = store.rows()
    if not rows:
        raise ValueError(f"`directory` must hold results, found none in {store.path}")
    folder = Path(out) if out is not None else store.directory / "report"
    parts = [(section, draw(section)) for section in sections(rows)]
    for _, plots in parts:
        for plot in plots:
            plot.save(folder / "plots")
    template = page_template("page.html.j2", __package__, {"value": value, "signed": signed})
    page = template.render(
        parts=parts,
        raw=Path(os.path.relpath(store.path, folder)).as_posix(),
        failures=[row for section, _ in parts for row in section.failures],
    )
    path = folder / "index.html"
    write_whole(path, page)
    return path
