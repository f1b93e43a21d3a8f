"""Does "auto" choose well? Lags beside a ladder of lags, and numbers of columns beside the true ones.

python -m benchmarks.recordings.choices [--worlds ...] [--methods ...] [--seeds 3] [--dry-run] [--show]
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.recordings.run import NAMES, cells, parser
from benchmarks.recordings.worlds import FIVE, Data, recording
from benchmarks.rows import FOLDER, Row, carry_out, read_rows
from benchmarks.timing import timed

RESULTS = FOLDER / "recordings-choices.jsonl"


def sampled(times: int) -> tuple[float, ...]:
    """Give what five sources keep of themselves from row to row, sampled so many times as often."""
    return tuple(float(value) for value in np.asarray(FIVE) ** (1 / times))


# Sources as they are, and the same sampled more finely: rows that are hardly apart share nearly everything.
LAG_WORLDS: dict[str, Callable[..., Data]] = {
    "sampled × 1": partial(recording, FIVE, rows=10_000, noise=0.05),
    "sampled × 8": partial(recording, sampled(8), rows=20_000, noise=0.05),
}
COLUMN_WORLDS: dict[str, Callable[..., Data]] = {
    "3 factors": partial(recording, (0.5, 0.85, 0.97), rows=10_000),
    "5 factors": partial(recording, FIVE, rows=10_000),
    "10 factors": partial(recording, tuple(np.linspace(0.5, 0.99, 10)), rows=20_000, channels=24),
}
WORLDS = LAG_WORLDS | COLUMN_WORLDS
LAGS = (1, 2, 4, 8, 16)
METHODS = (*(f"lag {lag}" for lag in LAGS), "lag auto", "columns auto")


def settings_of(method: str, dim: int) -> dict[str, Any]:
    """Say what the estimator is told: a lag or "auto", and the number of columns or "auto"."""
    kind, value = method.split()
    if kind == "columns":
        return {"n_components": "auto"}
    return {"n_components": dim, "lag": value if value == "auto" else int(value)}


def run_cell(world: str, method: str, seed: int) -> Row:
    """Fit the earlier rows of a world and score the last fifth, which nothing saw."""
    import torch

    from aninfonce import ContrastiveICA, ContrastiveICAWarning
    from aninfonce._seeds import derive_seed
    from aninfonce.metrics import linear_r2, mean_correlation_coefficient

    torch.set_num_threads(1)
    data = WORLDS[world](seed=seed, name=world)
    # One seed for all lags, so that they differ in nothing else.
    own = derive_seed(seed, "choices") % 2**31
    model = ContrastiveICA(**settings_of(method, data.dim), random_state=own, device="cpu")
    with timed() as spent, warnings.catch_warnings():
        # Over long lags, columns of fast sources share nothing, which is said.
        warnings.simplefilter("ignore", ContrastiveICAWarning)
        model.fit(data.x[: data.n_train])
    z, embedding = data.z[data.n_train :], model.transform(data.x[data.n_train :])
    row: Row = {"world": world, "method": method, "seed": seed, "r2": round(linear_r2(z, embedding).mean, 5)}
    if embedding.shape[1] >= data.dim:
        row["mcc"] = round(mean_correlation_coefficient(z, embedding).mean, 5)
    row |= {"lag": model.lag_, "columns": embedding.shape[1]}
    if model.n_components_curve_ is not None:
        curve = model.n_components_curve_
        row["curve"] = {str(k): round(float(bits), 4) for k, bits in zip(*curve[:2], strict=True)}
    return {**row, "cpu_seconds": round(spent.cpu, 1), "seconds": round(spent.wall, 1)}


def belongs(world: str, method: str) -> bool:
    """Whether a world is there for a method: lags have worlds of their own."""
    return (world in LAG_WORLDS) == method.startswith("lag")


def main(arguments: Sequence[str] | None = None) -> int:
    from benchmarks.recordings.tables import choices

    chosen = parser(list(WORLDS), list(METHODS), 3, RESULTS).parse_args(arguments)
    if chosen.show:
        print(choices(read_rows(chosen.results)))
        return 0
    wanted = cells(chosen.worlds, chosen.methods, chosen.seeds, lambda name: False)
    return carry_out(chosen, [cell for cell in wanted if belongs(*cell[:2])], run_cell, NAMES)


if __name__ == "__main__":
    sys.exit(main())
