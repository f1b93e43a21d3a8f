"""Table 2 of cl-ica: latents recovered one by one, and three rows where that must fail."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from aninfonce_papers.engine import Experiment, Preset, Study
from aninfonce_papers.engine.published import CL_ICA
from aninfonce_papers.zimmermann2021.cl_ica import Baseline, TableRow, table_experiments, table_plot

METRIC = "MCC [%]"
# Few negatives come near an anchor, which bends the box the more the fewer there are (cl-ica had 6144): the
# batches grow to 8192 once the rest is learned.
_MANY = partial(replace, steps=900, grows=((0.4, 1_024), (0.65, 4_096), (0.8, 8_192)))
# Where the model's conditional is not that of the pairs, more and earlier.
_LONGER = partial(replace, steps=1_300, grows=((0.35, 1_024), (0.55, 4_096), (0.7, 8_192)))
# Cubes are flat near 0: they want many negatives too.
_CUBES = partial(replace, steps=2_000, grows=((0.2, 1_024), (0.8, 2_048)))
ROWS = (
    TableRow("Laplace .05", "box", "Laplace", 98.62, 0.05, laptop=_MANY, slower=10.0),
    TableRow("GenNorm β=3 .05", "box", "GenNorm β=3", 99.90, 0.06, laptop=_CUBES, slower=2.6),
    TableRow("Normal .05", "box", "Normal", 99.77, 0.01),
    TableRow("Laplace .05", "box", "Normal", 99.76, 0.02),
    TableRow("GenNorm β=3 .05", "box", "Laplace", 98.80, 0.02, laptop=_LONGER, slower=18.0),
    TableRow("Laplace .05", "unbounded", "Laplace", 98.57, 0.02, laptop=_MANY, slower=10.0),
    TableRow("GenNorm β=3 .05", "unbounded", "GenNorm β=3", 99.85, 0.01, laptop=_CUBES, slower=2.6),
    TableRow("Normal .05", "unbounded", "Normal", 58.26, 3.00, fails=True),
    TableRow("Laplace .05", "unbounded", "Normal", 59.67, 2.33, fails=True),
    TableRow("Normal .05", "unbounded", "GenNorm β=3", 43.80, 2.15, fails=True),
)
BASELINES = (
    Baseline("identity", "all rows", 1, 46.55, 1.34),
    # Printed for the unbounded encoder, and for the one that ends in a box.
    Baseline("supervised", "all rows", 1, 99.97, 0.03),
    Baseline("supervised", "box", 1, 99.93, 0.03, head="box"),
)


def experiments(preset: Preset) -> list[Experiment]:
    """Give the ten rows and their baselines."""
    rows = {number: [row] for number, row in enumerate(ROWS, start=1)}
    return table_experiments("table2", METRIC, rows, BASELINES, preset)


STUDY = Study(
    name="table2",
    title="Latents recovered up to permutation; rows 8 to 10 are meant to fail",
    paper=CL_ICA,
    source="Table 2; ours on held-out pairs",
    experiments=experiments,
    plot=partial(table_plot, metric=METRIC),
    remarks=(
        "On the laptop preset encoders have 900 to 2000 steps, cl-ica's 300 003: rows whose latents are"
        " recovered end tenths of a point away. Row 10 fails as it is meant to, less badly than published.",
    ),
)
