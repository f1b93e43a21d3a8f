"""The demo's page: three plots and a table, in one file that needs nothing else."""

from __future__ import annotations

import html
import io
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aninfonce._files import write_whole
from aninfonce.cli.demo_runs import DemoRun, concentration_heading, describe_concentration

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS = {"InfoNCE": "#c4561c", "AnInfoNCE": "#1c64a8"}
_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:1080px;margin:2rem auto;padding:0 1rem;color:#1c1c1c}
h1{font-size:1.5rem} table{border-collapse:collapse;margin:1rem 0}
th,td{padding:.35rem .8rem;border-bottom:1px solid #ddd;text-align:right}
th:first-child,td:first-child{text-align:left} svg{max-width:100%;height:auto}
code{background:#f2f2f2;padding:.1rem .3rem;border-radius:3px} .note{color:#555}
"""


def write_page(runs: list[DemoRun], out: Path, *, seed: int, quick: bool) -> Path:
    """Write index.html, and the numbers behind it as results.json.

    Args:
        runs: both trainings.
        out: folder, created if needed.
        seed: for the command that is shown.
        quick: likewise.

    Returns:
        Path of the page.

    """
    numbers = json.dumps([asdict(run) for run in runs], indent=1, ensure_ascii=False)
    write_whole(out / "results.json", numbers)
    page = out / "index.html"
    write_whole(page, render_page(runs, seed=seed, quick=quick))
    return page


def render_page(runs: list[DemoRun], *, seed: int, quick: bool) -> str:
    """Put plots and table into HTML."""
    command = f"aninfonce demo --seed {seed}" + (" --quick" if quick else "")
    names = ("", "R² content", "R² style", concentration_heading(runs[0]), "loss", "optimum", "seconds")
    head = "<tr>" + "".join(f"<th>{html.escape(name)}</th>" for name in names) + "</tr>"
    rows = "".join(
        f"<tr><td>{html.escape(run.name)}</td><td>{run.r2['content']:.4f}</td><td>{run.r2['style']:.4f}</td>"
        f"<td>{html.escape(describe_concentration(run))}</td><td>{run.loss:.3f}</td><td>{run.optimum:.3f}</td>"
        f"<td>{run.seconds:.0f}</td></tr>"
        for run in runs
    )
    folded = next((run for run in runs if run.folded), None)
    warning = (
        f"<p><b>{html.escape(folded.name)} looks folded: a sign of one factor seems lost.</b></p>"
        if folded
        else ""
    )
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>aninfonce demo</title><style>{_STYLE}</style></head><body>
<h1>Two losses, the same pairs, ten hidden factors</h1>
<p>Ten factors lie on a sphere and are mixed by an invertible network. Within a pair, five of them (content)
change little, Λ = 25, and five (style) change more, Λ = 5. Both losses see only mixed pairs. R² says how
much of the factors a linear readout of the embedding recovers on fresh data; 1 is all.</p>
<table>{head}{rows}</table>{warning}
{_svg(draw_figure(runs))}
<p class="note">Left: factors recovered on held-out pairs (Fig. 2B of the paper). Middle: loss on held-out
pairs against the lowest that any model can reach, with 1023 negatives (2C). Right: the learned Λ̂ against the
truth (2D); in the shaded phase the embedding is not yet on the sphere, so Λ̂ has no scale and is not shown.
The last point is after the closing fits.</p>
<p class="note">Made by <code>{html.escape(command)}</code>; the numbers are in <code>results.json</code>.</p>
</body></html>
"""


def draw_figure(runs: list[DemoRun]) -> Figure:
    """Draw the three panels."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12.5, 4.1), layout="constrained")
    axes = figure.subplots(1, 3)
    _draw_recovery(axes[0], runs)
    _draw_loss(axes[1], runs)
    _draw_concentration(axes[2], next(run for run in runs if len(run.concentration) > 1))
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
        axis.set_xlabel("step")
    return figure


def _curve(run: DemoRun, name: str) -> tuple[list[int], list[float]]:
    points = [(row["step"], row[name]) for row in run.history if name in row]
    return [step for step, _ in points], [value for _, value in points]


def _draw_recovery(axis: Any, runs: list[DemoRun]) -> None:
    for run in runs:
        for part, dashes in (("content", "-"), ("style", "--")):
            steps, values = _curve(run, f"r2_{part}")
            axis.plot(steps, values, dashes, color=_COLOURS[run.name], label=f"{run.name}, {part}")
    axis.set(title="Factors recovered", ylabel="R²", ylim=(-0.03, 1.03))
    axis.legend(frameon=False, loc="center right", fontsize=9)


def _draw_loss(axis: Any, runs: list[DemoRun]) -> None:
    for run in runs:
        axis.plot(*_curve(run, "held_out_loss"), color=_COLOURS[run.name], label=run.name)
    optimum = runs[0].optimum
    axis.axhline(optimum, color="black", linewidth=1, linestyle=":", label=f"optimum, {optimum:.3f}")
    last = max(run.loss for run in runs)
    axis.set(title="Loss and its optimum", ylabel="loss [nats]", ylim=(optimum - 0.15, last + 1.2))
    axis.legend(frameon=False, fontsize=9)


def _draw_concentration(axis: Any, run: DemoRun) -> None:
    switch = run.switch or 0
    rows = [row for row in run.history if row["step"] > switch and "concentration" in row]
    steps = [row["step"] for row in rows]
    for index, truth in enumerate(run.truth):
        values = [row["concentration"][index] for row in rows]
        axis.plot(steps, values, color=_COLOURS[run.name], linewidth=1, alpha=0.8)
        axis.plot(steps[-1], values[-1], "o", color=_COLOURS[run.name], markersize=4)
        axis.axhline(truth, color="black", linewidth=1, linestyle=":")
    if switch:
        axis.axvspan(0, switch, color="#eeeeee", linewidth=0)
        axis.text(
            switch / 2, max(run.truth) / 2, "not yet on\nthe sphere", ha="center", va="center", color="#666"
        )
    axis.set(
        title=rf"{run.name}: $\hat\Lambda$ (dotted: truth)",
        ylabel=r"$\hat\Lambda$",
        ylim=(0, 1.15 * max(run.truth)),
    )
    axis.set_xlim(left=0)


def _svg(figure: Figure) -> str:
    """Give a figure as an <svg> element."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]
