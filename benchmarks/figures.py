"""The figures of the benchmarks, drawn from benchmarks/results/.

python -m benchmarks.figures            draw docs/figures/losses.svg
python -m benchmarks.figures --check    only look; leaves with 1 if it is stale
"""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from aninfonce.plots.drawing import render
from benchmarks.rows import Row
from benchmarks.tables import ROOT, main, read

TARGET = ROOT / "docs" / "figures" / "losses.svg"
DIM, THREADS = 128, 1
# Ours in strong colours, the peers in quiet ones.
LINES = {
    "AnInfoNCE (default)": ("AnInfoNCE", "#0b5fa5", "-", 2.4),
    "NTXent": ("NTXent", "#c2410c", "-", 2.4),
    "info-nce-pytorch": ("info-nce-pytorch", "#6b7280", "--", 1.4),
    "cebra FixedCosineInfoNCE": ("cebra", "#6b7280", ":", 1.8),
    "lightly NTXentLoss": ("lightly NTXent", "#6b7280", "-.", 1.4),
}


def draw(rows: list[Row]) -> bytes:
    """CPU time and memory of one value and its gradients against the batch size."""
    chosen = [row for row in rows if row.get("dim") == DIM and "cpu_ms" in row]
    figure = Figure(figsize=(9, 3.8), layout="constrained", facecolor="white")
    panels = figure.subplots(1, 2)
    quantities = (("cpu_ms", "CPU time, ms"), ("peak_mb", "memory beyond the inputs, MB"))
    for axes, (key, title) in zip(panels, quantities, strict=True):
        for name, (label, colour, style, width) in LINES.items():
            own = sorted((r["n"], r[key]) for r in chosen if r["name"] == name and r["threads"] == THREADS)
            # A call that fits memory which the process had already shows as nothing.
            points = [(n, value) for n, value in own if value >= 0.1]
            if points:
                x, y = zip(*points, strict=True)
                axes.plot(x, y, style, color=colour, lw=width, marker="o", ms=4, label=label)
        axes.set(xscale="log", yscale="log", xlabel="pairs in the batch", title=title)
        ticks = sorted({row["n"] for row in chosen})
        axes.set_xticks(ticks, [f"{n:,}" for n in ticks], rotation=35, ha="right", fontsize=8)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        axes.minorticks_off()
        axes.grid(color="#e5e7eb")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].legend(frameon=False, fontsize=9)
    figure.suptitle(f"One value and its gradients, {DIM} columns, one thread of a CPU", fontsize=11)
    return render(figure, "svg")


if __name__ == "__main__":
    main(lambda: {TARGET: draw(read("losses"))}, __doc__)
