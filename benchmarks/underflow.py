"""What numbers too small for float32 cost a loss of a large Λ, if they are not counted as zero.

    python -m benchmarks.underflow

One thread; value and gradients of AnInfoNCE for random points of a sphere, the best of several rounds in
turn, in CPU milliseconds: as it is, and with nothing counted as zero.
"""

from __future__ import annotations

from collections.abc import Callable
from unittest.mock import patch

import torch

from aninfonce.losses import AnInfoNCE
from benchmarks.rows import command
from benchmarks.timing import best_seconds

SIZES = ((512, 10), (1024, 10), (2048, 10), (1024, 128))
CONCENTRATIONS = (5.0, 50.0, 100.0, 200.0)
# Who looks for small numbers.
_LOOKED_FOR = [f"aninfonce.losses.kernel.{room}.can_underflow" for room in ("whole", "in_batch")]


def measure(pairs: int, dim: int, concentration: float, rounds: int) -> tuple[float, float]:
    """Time it as it is and without: milliseconds of each."""
    generator = torch.Generator().manual_seed(0)
    anchors, noise = torch.randn(2, pairs, dim, generator=generator)
    views = [anchors.requires_grad_(), (anchors.detach() + 0.2 * noise).requires_grad_()]
    loss = AnInfoNCE(dim, initial=concentration)

    def step() -> None:
        torch.autograd.grad(loss(*views), views)

    def without() -> None:
        with patch(_LOOKED_FOR[0], _never), patch(_LOOKED_FOR[1], _never):
            step()

    works: dict[str, Callable[[], object]] = {"as it is": step, "without": without}
    best = best_seconds(works, rounds)
    return 1e3 * best["as it is"], 1e3 * best["without"]


def _never(lowest: torch.Tensor) -> bool:
    return False


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    for pairs, dim in SIZES:
        cells = [f"{pairs:5d} × {dim:3d}"]
        for concentration in CONCENTRATIONS:
            ours, without = measure(pairs, dim, concentration, rounds)
            cells.append(
                f"Λ = {concentration:3.0f}: {ours:5.1f} ms for {without:5.1f} ({without / ours:4.1f} ×)"
            )
        print("   ".join(cells))


if __name__ == "__main__":
    main()
