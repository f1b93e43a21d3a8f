"""Random numbers, one stream for each purpose.

A run has one seed and draws for many purposes: weights, pairs, held-out rows, fits. Each purpose gets a
stream of its own by name, so that no two of them coincide and adding one never shifts the others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Generator, device


def derive_seed(seed: int, *purpose: str | int) -> int:
    """Turn a run's seed and a purpose into the seed of that purpose.

    SHA-256 rather than arithmetic: formulas such as `2 * seed + 1` in one module and `3 * seed` in another
    coincide sooner or later, and two streams that should be independent are then the same.

    Example:
        >>> derive_seed(0, "weights") == derive_seed(0, "weights")
        True
        >>> len({derive_seed(seed, name) for seed in range(100) for name in ("weights", "pairs")})
        200

    Args:
        seed: of the run, any whole number.
        purpose: what the numbers are for, most general first, such as `"pairs", "order"`.

    Returns:
        A whole number from 0 to 2⁶³ − 1; numpy and torch both take it.

    """
    parts = (int(seed), *purpose)
    text = "\x1f".join(f"{type(part).__name__}:{part}" for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def stream(seed: int, *purpose: str | int) -> Generator:
    """Open the generator of a purpose, on the CPU; see `derive_seed`.

    Example:
        >>> import torch
        >>> torch.rand(1, generator=stream(0, "pairs")) == torch.rand(1, generator=stream(0, "pairs"))
        tensor([True])

    """
    # Whoever only derives seeds need not wait for torch.
    import torch

    return torch.Generator().manual_seed(derive_seed(seed, *purpose))


@contextmanager
def global_stream(seed: int, *purpose: str | int, device: device | None = None) -> Iterator[None]:
    """Let whatever knows only torch's global generators draw from a stream: dropout, loaders, layers.

    Afterwards the generators of the CPU and of `device` are as they were before.

    Example:
        >>> import torch
        >>> with global_stream(0, "steps"):
        ...     first = torch.rand(1)
        >>> with global_stream(0, "steps"):
        ...     first == torch.rand(1)
        tensor([True])

    """
    import torch

    with torch.random.fork_rng(devices=[device] if device is not None and device.type == "cuda" else []):
        torch.manual_seed(derive_seed(seed, *purpose))
        yield
