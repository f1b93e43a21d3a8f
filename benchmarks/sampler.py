"""Pairs drawn per second: the exact conditional beside the sampler of the AnInfoNCE authors.

Both draw 65 536 positives at a time, turn by turn in one run, so that a noisy machine slows both alike.
The authors' algorithm runs in our own vectorised form.

    python -m benchmarks.sampler            measure, print, and keep in benchmarks/results/sampler.jsonl
"""

from __future__ import annotations

import statistics
from collections.abc import Callable

import torch
from rich.console import Console
from rich.table import Table

from aninfonce.distributions import ApproximateFisherBingham, FisherBingham, Uniform
from aninfonce.spaces import Sphere
from benchmarks.rows import FOLDER, command, write_rows
from benchmarks.timing import seconds_a_step

RESULTS = FOLDER / "sampler.jsonl"

SETTINGS = {
    "d=10, Λ=(5×5, 25×5)": (10, (5.0, 25.0)),
    "d=10, Λ mixed 15/250/400": (10, (15.0, 250.0, 400.0)),
    "d=20, Λ=75": (20, (75.0,)),
    "d=50, Λ=(5, 25)": (50, (5.0, 25.0)),
    "d=100, Λ mixed 15/250/400": (100, (15.0, 250.0, 400.0)),
}


def rate(draw: Callable[[], object], pairs: int) -> float:
    return pairs / seconds_a_step(draw, 1)[0]


def shell_acceptance(z: torch.Tensor, concentration: torch.Tensor, generator: torch.Generator) -> float:
    """Share of the authors' proposals that land in their shell."""
    step = torch.randn(z.shape, generator=generator) * concentration.rsqrt()
    return float((((z + step).norm(dim=1) - 1).abs() < 0.1).float().mean())


def measure(
    dim: int, values: tuple[float, ...], pairs: int, rounds: int
) -> tuple[float, float, float | None, float]:
    """Median rate and acceptance of the exact sampler, then of the approximate one."""
    generator = torch.Generator().manual_seed(0)
    concentration = torch.tensor([values[i % len(values)] for i in range(dim)])
    z = Uniform(Sphere(dim)).sample(pairs, generator)
    exact, approximate = FisherBingham(z, concentration), ApproximateFisherBingham(z, concentration)
    their_acceptance = shell_acceptance(z, concentration, generator)
    hopeless = their_acceptance < 1e-3
    exact_rates, approximate_rates = [], []
    exact.sample(generator)  # first call pays for torch's own set-up
    for _ in range(rounds):
        exact_rates.append(rate(lambda: exact.sample(generator), pairs))
        if not hopeless:
            approximate_rates.append(rate(lambda: approximate.sample(generator), pairs))
    theirs = None if hopeless else statistics.median(approximate_rates)
    ours = statistics.median(exact_rates)
    return ours, float(exact.acceptance_rate()[:4096].mean()), theirs, their_acceptance


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=65_536)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    table = Table(title=f"Positives per second, {arguments.pairs} at a time, {arguments.threads} thread(s)")
    for column in ("setting", "exact", "accepted", "authors' (biased)", "accepted", "ratio"):
        table.add_column(column, justify="left" if column == "setting" else "right")
    rows = []
    for name, (dim, values) in SETTINGS.items():
        ours, accepted, theirs, their_accepted = measure(dim, values, arguments.pairs, arguments.rounds)
        rows.append(
            {
                "setting": name,
                "threads": arguments.threads,
                "pairs": arguments.pairs,
                "exact_per_second": round(ours),
                "exact_accepted": round(accepted, 4),
                "authors_per_second": None if theirs is None else round(theirs),
                "authors_accepted": round(their_accepted, 6),
            }
        )
        table.add_row(
            name,
            f"{ours:,.0f}",
            f"{accepted:.1%}",
            "not run" if theirs is None else f"{theirs:,.0f}",
            f"{their_accepted:.2%}",
            "" if theirs is None else f"{ours / theirs:.1f}",
        )
    Console().print(table)
    write_rows(RESULTS, rows)


if __name__ == "__main__":
    main()
