"""Does the default recipe identify, on every seed, and how fast? The benchmark behind docs/training.md.

    python -m benchmarks.identify                        all settings, ten seeds each, what is missing
    python -m benchmarks.identify --only 5-25 --seeds 1  one run
    python -m benchmarks.identify --summary              only the table of what is there

One JSON line for each finished (setting, seed) goes to benchmarks/results/identify.jsonl; a second call goes
on where the first one stopped. True latents are used to score, never to train or to choose. Seed s draws the
mixing, the weights and the pairs; seeds are 0, 1, 2, ...
"""

from __future__ import annotations

import platform
import statistics
import sys
from pathlib import Path
from typing import Any

from aninfonce._files import write_whole
from benchmarks.rows import FOLDER, Row, add_sweep_options, carry_out, command, read_rows
from benchmarks.timing import seconds_a_step, timed

RESULTS = FOLDER / "identify.jsonl"

# The papers' logs: 20 001 steps on 1000 pairs bring R² .99 at Λ = (5, 25).
PAPER_STEPS, PAPER_BATCH = 20_001, 1000

# Many dimensions: hardly a negative is ever mistaken for a positive, and at the true Λ = 75 few anchors of a
# batch have a gradient. A Λ̂ held at 15, on the sphere from the start, lets all of them count; the closing
# fit finds the true one.
_WIDE: dict[str, Any] = {
    "encoder": {"name": "mlp", "options": {"width": 256}},
    "loss": {"name": "aninfonce", "options": {"initial": 15.0}},
    "evaluate_every": 500,
}
_WIDE_RECIPE: dict[str, Any] = {
    "whiten": True,
    "unfold": None,
    "concentration_lr": 1e-6,
    "muon_refresh": 2,
    "batch_size": 1024,
    "growth": (),
    "close": {"pairs": 65_536, "concentration_pairs": 65_536},
}

SETTINGS: dict[str, dict[str, Any]] = {
    "5-25": {"process": "fig2/25"},
    "linspace": {"process": "fig2/linspace"},
    "5-50": {"process": "fig2/50"},
    "5-100": {"process": "fig2/100"},
    "5-150": {"process": "fig2/150"},
    "5-200": {"process": "fig2/200"},
    # The sphere from the first step: it folds where the Λ differ much.
    "sphere-5-25": {"process": "fig2/25", "config": {"recipe": {"unfold": None, "muon_refresh": 2}}},
    "sphere-5-150": {"process": "fig2/150", "config": {"recipe": {"unfold": None, "muon_refresh": 2}}},
    # Plain InfoNCE at temperature 1, for comparison: it is meant to lose the style. Smaller rates,
    # because at those of AnInfoNCE some style (R² .16) is left over from the start, at the same loss.
    "infonce-5-25": {"process": "fig2/25", "config": {"loss": "infonce"}, "low_rates": True},
    "d20-75": {"process": "fig4a/d20", "config": {**_WIDE, "recipe": {**_WIDE_RECIPE, "steps": 4000}}},
    "d40-75": {"process": "fig4a/d40", "config": {**_WIDE, "recipe": {**_WIDE_RECIPE, "steps": 40_000}}},
}


def run(setting: str, seed: int) -> Row:
    """Train one setting from scratch and score it."""
    import torch

    torch.set_num_threads(1)
    import lightning_fabric  # noqa: F401  (imported by the first `fit`: not part of the training)

    from aninfonce.metrics import concentration_error, linear_r2, mean_correlation_coefficient
    from aninfonce.processes import process
    from aninfonce.recipe import INFONCE_RATES, scaled_rates
    from aninfonce.training import TrainingConfig, fit

    chosen = SETTINGS[setting]
    config = dict(chosen.get("config", {}))
    if chosen.get("low_rates"):
        config["recipe"] = scaled_rates(INFONCE_RATES)
    pairs = process(chosen["process"], seed=seed)
    bare = [paper_step()]
    with timed() as spent:
        fitted = fit(pairs, TrainingConfig(seed=seed, **config))
    bare.append(paper_step())
    paper_seconds, paper_cpu = (PAPER_STEPS * sum(column) / 2 for column in zip(*bare, strict=True))

    held_out = pairs.sample(16_384, torch.Generator().manual_seed(10**6 + seed))
    assert held_out.z is not None
    embedding = fitted.embed(held_out.x)
    score = linear_r2(held_out.z, embedding, partitions=pairs.partitions())
    steps = {k: v for k, v in fitted.profile.items() if k in ("data", "encoder and loss", "optimiser")}
    row = {
        "setting": setting,
        "seed": seed,
        "r2": score.mean,
        "r2_min": min(score.per_dimension),
        **{
            f"r2_{name}": value for name, value in score.per_partition.items() if name in ("style", "content")
        },
        "mcc": mean_correlation_coefficient(held_out.z, embedding).mean,
        "seconds": spent.wall,
        "cpu_seconds": spent.cpu,
        "paper_seconds": paper_seconds,
        "paper_cpu_seconds": paper_cpu,
        # In CPU time, which a busy machine does not change much; both sides have one thread.
        "times_faster": paper_cpu / spent.cpu,
        "encoder_and_loss_share": steps["encoder and loss"] / sum(steps.values()),
        "profile": {name: round(value, 2) for name, value in fitted.profile.items()},
        "gap": fitted.history[-1].get("gap"),
        "steps": fitted.step,
        "threads": 1,
        "torch": torch.__version__,
        "machine": platform.machine(),
    }
    if fitted.concentration is not None and pairs.concentration is not None:
        row["concentration"] = [round(value, 4) for value in fitted.concentration.tolist()]
        row["concentration_error"] = concentration_error(fitted.concentration, pairs.concentration).max
    if fitted.folding is not None:
        row["folded"] = fitted.folded
        row["mean_length"] = fitted.folding.mean_length
        row["smallest_variance"] = fitted.folding.smallest_variance
    return row


def paper_step(dim: int = 10, steps: int = 15) -> tuple[float, float]:
    """Wall and CPU seconds of a bare forward and backward pass of the papers' encoder on 2 × 1000 samples."""
    import torch

    from aninfonce.encoders import paper_mlp

    generator = torch.Generator().manual_seed(0)
    encoder = paper_mlp(dim, dim, generator=generator)
    x = torch.randn(2 * PAPER_BATCH, dim, generator=generator)

    def step() -> None:
        encoder.zero_grad()
        encoder(x).square().mean().backward()

    step()
    return seconds_a_step(step, steps)


def summary(rows: list[Row]) -> str:
    """One line per setting: the worst seed for scores, the median for times."""
    head = (
        f"{'setting':14s} {'seeds':>5s} {'content':>8s} {'style':>8s} {'R²':>8s} {'corr.':>6s}"
        f" {'Λ̂ error':>9s} {'folded':>6s} {'seconds':>8s} {'CPU s':>6s} {'× faster':>8s} {'enc+loss':>8s}"
    )
    lines = ["worst seed of each setting (best, where less is wanted: InfoNCE); times: median", head]
    for setting in SETTINGS:
        own = [row for row in rows if row["setting"] == setting]
        if not own:
            continue

        def worst(name: str, pick: Any = min, own: list[Row] = own) -> str:
            values = [row[name] for row in own if row.get(name) is not None]
            return f"{pick(values):8.4f}" if values else f"{'–':>8s}"

        pick = max if setting.startswith("infonce") else min
        lines.append(
            f"{setting:14s} {len(own):5d} {worst('r2_content', pick)} {worst('r2_style', pick)}"
            f" {worst('r2', pick)} {worst('mcc', pick)[2:]} {worst('concentration_error', max)}"
            f" {sum(bool(row.get('folded')) for row in own):6d}"
            f" {statistics.median(row['seconds'] for row in own):8.1f}"
            f" {statistics.median(row['cpu_seconds'] for row in own):6.1f}"
            f" {statistics.median(row['times_faster'] for row in own):8.0f}"
            f" {statistics.median(row['encoder_and_loss_share'] for row in own):8.1%}"
        )
    return "\n".join(lines)


def plot(rows: list[Row], path: Path) -> None:
    """Draw the style R² of every seed, with the recipe and on the sphere from the start."""
    from matplotlib.figure import Figure

    from aninfonce.plots.drawing import render

    figure = Figure(figsize=(7.5, 3.6), layout="constrained")
    axis = figure.subplots()
    places = {"5-25": 25, "5-50": 50, "5-100": 100, "5-150": 150, "5-200": 200}
    for prefix, colour, marker, label in (
        ("", "#1c64a8", "o", "recipe: Rᵈ first, then the sphere"),
        ("sphere-", "#c4561c", "x", "on the sphere from the start"),
    ):
        points = [
            (places[name], row["r2_style"])
            for row in rows
            if (name := row["setting"].removeprefix(prefix)) in places and row["setting"] == prefix + name
        ]
        if points:
            x, y = zip(*points, strict=True)
            axis.plot(x, y, marker, color=colour, label=label, alpha=0.7, markersize=6)
    axis.axhline(0.8, color="black", linewidth=1, linestyle=":")
    axis.text(202, 0.803, "one sign of five lost", ha="right", va="bottom", fontsize=9)
    axis.set(xlabel="Λ of the content (style: 5)", ylabel="R² of the style, one point per seed")
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False, loc="center left")
    write_whole(path, render(figure, "svg" if path.suffix == ".svg" else "png"))


def main() -> int:
    parser = command(__doc__)
    parser.add_argument("--only", action="append", choices=SETTINGS, help="setting to run; may be repeated")
    parser.add_argument("--seeds", type=int, default=10, help="seeds 0 to this, less one")
    parser.add_argument("--plot", type=Path, help="draw style R² by setting into this file and leave")
    parser.add_argument("--summary", action="store_true", help="print the table and leave")
    add_sweep_options(parser, RESULTS, jobs=2)
    options = parser.parse_args()
    if options.plot is not None:
        plot(read_rows(options.results), options.plot)
        return 0
    code = 0
    if not options.summary:
        wanted = [(setting, seed) for setting in options.only or SETTINGS for seed in range(options.seeds)]
        code = carry_out(options, wanted, run, ("setting", "seed"), fresh=True)
    print(summary(read_rows(options.results)))
    return code


if __name__ == "__main__":
    sys.exit(main())
