"""Figure 4: more latents, and more concentrated ones, need larger batches."""

from __future__ import annotations

from functools import partial

from aninfonce_papers.engine import Experiment, Preset, Study
from aninfonce_papers.engine.published import ANINFONCE
from aninfonce_papers.rusak2025.batches import AVERAGED, Panel, draw, panel_experiments

# The number of latents at Λ = 75 (A), and Λ for 20 latents (B).
PANELS = (
    Panel(
        "A: d",
        "fig4a/d{}",
        (10, 20, 30, 40),
        {
            50: (0.89, 0.69, 0.61, 0.49),
            250: (0.99, 0.92, 0.76, 0.72),
            500: (1.0, 0.93, 0.86, 0.83),
            1000: (1.0, 0.94, 0.92, 0.86),
        },
        # Many latents are learned one after the other.
        steps={40: 4_000},
    ),
    Panel(
        "B: Λ",
        "fig4b/{}",
        (25, 75, 150, 300),
        {
            50: (0.98, 0.69, 0.53, 0.43),
            250: (0.99, 0.92, 0.72, 0.57),
            500: (0.99, 0.93, 0.81, 0.62),
            1000: (1.0, 0.94, 0.86, 0.68),
        },
        # Here little is lost in the end, and small batches take long to come near it.
        steps={25: 3_000},
    ),
)
# The paper does not say how long these ran; its Figure 8 follows the same settings this far.
_PAPER_STEPS = 500_000


def experiments(preset: Preset) -> list[Experiment]:
    """Give both grids."""
    return [found for panel in PANELS for found in panel_experiments(panel, preset, _PAPER_STEPS)]


STUDY = Study(
    name="fig4",
    title="Batch size against the number of latents and their concentration",
    paper=ANINFONCE,
    source="Figure 4; ours on held-out pairs",
    experiments=experiments,
    plot=partial(draw, PANELS),
    remarks=(AVERAGED,),
)
