"""How fast the two libraries multiply: `torch.mm` (MKL) beside oneDNN, and which of them the losses take.

    python -m benchmarks.products

One thread, float32, (m, k) by (k, n); the best of several rounds in turn, in GFLOP a second of the CPU, and
the relative error of each against float64.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from aninfonce._products import is_quick, onednn_product
from benchmarks.rows import command
from benchmarks.timing import best_seconds

SIZES = (
    (128, 64, 128),
    (128, 128, 128),
    (512, 64, 512),
    (1024, 128, 1024),
    (1024, 1024, 128),
    (128, 4096, 128),
)


def measure(m: int, k: int, n: int, rounds: int) -> str:
    """One line of the table."""
    generator = torch.Generator().manual_seed(0)
    rows, columns = (torch.randn(size, k, generator=generator) for size in (m, n))
    ways: dict[str, Callable[[], Tensor]] = {"torch.mm": lambda: torch.mm(rows, columns.T)}
    linear = onednn_product()
    if linear is not None:
        ways["oneDNN"] = lambda: linear(rows, columns, None, "none", [], "")
    best = best_seconds({**ways}, rounds)
    exact = rows.double() @ columns.double().T
    cells = [f"{m:5d} × {k:4d} × {n:4d}"]
    for name, multiply in ways.items():
        error = float((multiply().double() - exact).norm() / exact.norm())
        cells.append(f"{name} {2e-9 * m * k * n / best[name]:6.0f} GFLOP/s, error {error:.1e}")
    return "   ".join([*cells, "oneDNN serves" if is_quick(rows, columns) else "torch.mm serves"])


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    for size in SIZES:
        print(measure(*size, rounds))


if __name__ == "__main__":
    main()
