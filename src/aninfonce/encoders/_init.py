"""Weights drawn from an explicit generator, by layers that know only the global one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from aninfonce._validation import describe


@contextmanager
def weights_from(generator: torch.Generator | None) -> Iterator[None]:
    """Make the layers built inside draw their weights from `generator`, on the CPU.

    Without one they draw from the global random state, as torch layers do; with one, that state is left
    as it was.
    """
    if generator is None:
        yield
        return
    if not isinstance(generator, torch.Generator):
        raise ValueError(f"`generator` must be a torch.Generator or None, got {describe(generator)}")
    seed = int(torch.randint(2**62, (), generator=generator, device=generator.device))
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        yield
