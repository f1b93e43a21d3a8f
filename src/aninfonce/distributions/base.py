"""What every conditional distribution offers, and the one rejection loop they share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import torch
from torch import Generator, Tensor

from aninfonce.spaces import Sphere

# Proposals a single draw may cost before we call it hopeless. The worst documented setting
# (d = 100, Λ mixed 15/250/400) needs about 12 on average.
MAX_PROPOSALS = 100_000


class Conditional(ABC):
    """A distribution placed at each row of `loc` (N, d): row i is drawn around anchor i."""

    loc: Tensor

    @abstractmethod
    def sample(self, generator: Generator | None = None) -> Tensor:
        """Draw one point around each row of `loc`.

        Args:
            generator: source of randomness on the device of `loc`; torch's global one if omitted.

        Returns:
            Tensor (N, d) of the dtype and on the device of `loc`.

        """

    def log_prob(self, x: Tensor) -> Tensor:
        """Log-density of `x` (..., N, d), row i under the distribution at anchor i.

        Returns:
            Tensor (..., N).

        """
        return self.log_kernel(x) - self.log_normalizer()

    def log_kernel(self, x: Tensor) -> Tensor:
        """Log-density of `x` (..., N, d) up to a constant per anchor; cheap, and enough inside a softmax."""
        raise NotImplementedError(f"{type(self).__name__} has no density in closed form")

    def log_normalizer(self) -> Tensor:
        """Log-integral of exp(`log_kernel`), a tensor (N,)."""
        raise NotImplementedError(f"{type(self).__name__} has no density in closed form")


def check_anchors_on_sphere(loc: Tensor) -> Tensor:
    """Require anchors (N, d) on the unit sphere, d ≥ 2."""
    return Sphere(loc.shape[-1] if loc.ndim else 0).check(loc, "loc")


def quadratic_kernel(x: Tensor, loc: Tensor, concentration: Tensor) -> Tensor:
    """−½(x−z)ᵀΛ(x−z) for `x` (..., N, d), anchors z (N, d) and the diagonal of Λ (d,): a tensor (..., N)."""
    return -0.5 * ((x - loc).square() * concentration).sum(dim=-1)


def sample_by_rejection(
    count: int,
    propose: Callable[[Tensor], tuple[Tensor, Tensor]],
    device: torch.device,
    *,
    what: str,
    max_proposals: int = MAX_PROPOSALS,
) -> Tensor:
    """Draw `count` independent items, each redrawn until it is accepted.

    Once few items are left, several proposals are made for each and the first accepted one is
    taken: this keeps the work per round, and so the vectorisation, at its level to the end.

    Args:
        count: number of items.
        propose: given item numbers (K,), repeats allowed, returns fresh proposals (K, ...) and
            whether each is accepted (K,).
        device: where the items live.
        what: name of the distribution, for the error message.
        max_proposals: bound on the proposals for one item.

    Returns:
        Tensor (count, ...) of accepted items.

    Raises:
        RuntimeError: if some item is still without a draw after `max_proposals` proposals.

    """
    pending = torch.arange(count, device=device)
    result: Tensor | None = None
    spent = 0
    while len(pending):
        if spent >= max_proposals:
            raise RuntimeError(
                f"{what}: {len(pending)} of {count} draws found no accepted proposal among {spent}; "
                "the acceptance rate for these parameters is too small"
            )
        repeats = max(1, min(max(count, 256) // (2 * len(pending)), 64))
        rows = pending.repeat_interleave(repeats) if repeats > 1 else pending
        proposals, accepted = propose(rows)
        spent += repeats
        if repeats > 1:
            accepted = accepted.view(-1, repeats)
            first = accepted.to(torch.uint8).argmax(dim=1)
            proposals = proposals.view(-1, repeats, *proposals.shape[1:])[
                torch.arange(len(pending), device=device), first
            ]
            accepted = accepted.any(dim=1)
        if result is None:
            # All items were proposed once, in order: the first round fills the result as it is.
            result = proposals.contiguous()
        else:
            result[pending[accepted]] = proposals[accepted]
        pending = pending[~accepted]
    if result is None:
        raise ValueError(f"{what}: at least one draw must be asked for, got {count}")
    return result
