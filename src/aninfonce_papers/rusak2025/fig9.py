"""Figure 9: batch size against the number of latents, at length."""

from __future__ import annotations

from functools import partial

from aninfonce_papers.engine import Study
from aninfonce_papers.engine.published import ANINFONCE
from aninfonce_papers.rusak2025.batches import AVERAGED, Panel, draw, panel_experiments

# At Λ = 75.
PANEL = Panel(
    "d",
    "fig9/d{}",
    (20, 23, 26, 30, 33, 36, 40),
    {
        50: (0.54, 0.55, 0.52, 0.48, 0.48, 0.46, 0.46),
        501: (0.90, 0.87, 0.81, 0.78, 0.78, 0.74, 0.71),
        1262: (0.94, 0.92, 0.91, 0.87, 0.84, 0.83, 0.82),
        4000: (0.99, 0.94, 0.94, 0.93, 0.93, 0.91, 0.90),
    },
    # As in Figure 4, many latents are learned one after the other.
    steps={33: 4_000, 36: 4_000, 40: 4_000},
)


STUDY = Study(
    name="fig9",
    title="Batch size against the number of latents after many steps",
    paper=ANINFONCE,
    source="Figure 9, after 500 000 steps; ours on held-out pairs",
    experiments=partial(panel_experiments, PANEL, paper_steps=500_000),
    plot=partial(draw, [PANEL]),
    remarks=(AVERAGED,),
)
