"""Scenes drawn while training: at random, or in groups that only some of their latents tell apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import torch
from torch import Generator, Tensor

from aninfonce.distributions import Uniform
from aninfonce.extending import Pixels, check_count, check_number, drawing_thread, stream
from aninfonce.processes import DataGeneratingProcess, PairBatch
from aninfonce.sources import PairSource
from aninfonce.spaces import Box
from aninfonce_papers.worlds.scenes.pairs import BOX, PicturePairs

ROTATION = (3, 4, 5)
State = dict[str, Tensor]


@dataclass(frozen=True)
class Groups:
    """Anchors in groups that look alike: hard negatives of each other, by the law of Corollary B.1.

    A group shares all latents up to a small normal step, but for some that each member draws anew. Two
    members are then apart with Λ⁻ = 1 / (2 · scale²) in what they share, and with Λ⁻ = 0 in the rest: of
    positives drawn with Λ⁺, batches of such groups teach Λ⁺ − Λ⁻. Steps are reflected at the walls of the
    box, so that each anchor by itself is uniform.

    Example:
        >>> z = Groups(count=2, scale=0.01, alone=0.0).sample(4, Generator().manual_seed(0))
        >>> bool((z[0] - z[1]).abs()[:3].max() < 0.1), bool((z[0] - z[2]).abs()[:3].max() < 0.1)
        (True, False)

    Args:
        count: anchors of a group; they come one after the other.
        scale: standard deviation of the step away from the middle of the group.
        alone: share of the groups whose members are drawn at random instead.
        free: latents that are not shared.
        space: of the latents.

    References:
        Rusak et al., "InfoNCE: Identifying the Gap Between Theory and Practice", 2025, Corollary B.1.

    """

    count: int = 16
    scale: float = 0.15
    alone: float = 1 / 3
    free: Sequence[int] = ROTATION
    space: Box = BOX

    def __post_init__(self) -> None:
        check_count(self.count, "count")
        check_number(self.scale, "scale", minimum=0.0, exclusive=True)
        if check_number(self.alone, "alone", minimum=0.0) > 1.0:
            raise ValueError(f"`alone` must be at most 1, got {self.alone:g}")

    def sample(self, n: int, generator: Generator | None = None) -> Tensor:
        """Draw `n` latents (n, d)."""
        groups = -(-check_count(n, "n") // self.count)
        everywhere = Uniform(self.space)
        middle = everywhere.sample(groups, generator).repeat_interleave(self.count, dim=0)[:n]
        step = self.scale * torch.randn(middle.shape, generator=generator)
        near = _reflected(middle + step, self.space)
        own = everywhere.sample(n, generator)
        near[:, list(self.free)] = own[:, list(self.free)]
        alone = torch.rand(groups, generator=generator) < self.alone
        return torch.where(alone.repeat_interleave(self.count)[:n, None], own, near)


def _reflected(z: Tensor, space: Box) -> Tensor:
    """Bring points back into a box, as a mirror at its walls would."""
    along = (z - space.low).remainder(2 * space.width)
    return space.low + torch.minimum(along, 2 * space.width - along)


class Marginal(Protocol):
    """Draws anchors."""

    def sample(self, n: int, generator: Generator | None = None) -> Tensor:
        """Draw `n` latents (n, d)."""


class _Bulk(NamedTuple):
    pictures: PicturePairs
    order: Tensor


class FreshScenes(PairSource):
    """Pairs of pictures that are drawn while training, a bulk ahead, in a thread of its own.

    Drawing costs more than a step, so that each bulk is gone through several times, in a new order of its
    groups. What a bulk holds depends on its number alone.

    Args:
        law: of the latents, which are its observations.
        draw: makes pictures of latents (n, d), uint8 (n, 3, H, W).
        seed: of the draws.
        groups: of anchors that look alike; None for anchors at random.
        groups_until: pairs after which anchors come at random all the same, so that training ends at the
            optimum of the law; never if None.
        bulk: pairs drawn at once.
        uses: of each bulk.

    """

    def __init__(
        self,
        law: DataGeneratingProcess,
        draw: Callable[[Tensor], Pixels],
        seed: int = 0,
        *,
        groups: Groups | None = None,
        groups_until: int | None = None,
        bulk: int,
        uses: int = 1,
    ) -> None:
        self.process: DataGeneratingProcess = law
        self.draw = draw
        self.seed = seed
        self.groups = groups
        self.groups_until = groups_until
        self.largest_batch = self._size = check_count(bulk, "bulk")
        self.uses = check_count(uses, "uses")
        self._aside = stream(seed, "pairs", "fits")
        self._worker = drawing_thread("scenes")
        self._number, self._position = -1, 0
        self._now: _Bulk | None = None
        self._ahead: Future[_Bulk] | None = None

    def next(self, n: int) -> PairBatch:
        """Take the next `n` pairs; groups stay together if `n` is a multiple of theirs."""
        if check_count(n, "n") > self._size:
            raise ValueError(f"`n` must be at most the bulk of {self._size}, got {n}")
        if self._now is None or self._position + n > self._size * self.uses:
            self._go_to(self._number + 1, 0)
        assert self._now is not None
        rows = self._now.order[self._position : self._position + n]
        self._position += n
        # Steps need no latents.
        return replace(self._now.pictures[rows], z=None)

    def fresh(self, n: int) -> PairBatch:
        """Draw `n` pairs with anchors at random, latents included."""
        return self._pairs(self.process.marginal, n, self._aside)[torch.arange(n)]

    def set_aside(self, share: float, most: int, batch: int) -> PairBatch:
        """Draw `most` new pairs with anchors at random: training loses none."""
        held_out = stream(self.seed, "pairs", "held out")
        return self._pairs(self.process.marginal, most, held_out)[torch.arange(most)]

    def state(self) -> State:
        """Say which bulk it is, and the position in it."""
        place = torch.tensor([self._number, self._position])
        return {"place": place, "aside": self._aside.get_state()}

    def restore(self, state: State) -> None:
        """Draw the bulk of that state again and go to its position in it."""
        self._aside.set_state(state["aside"])
        number, position = state["place"].tolist()
        if self._ahead is not None:
            self._ahead.exception()  # waits
        self._ahead, self._now, self._number, self._position = None, None, number, position
        if number >= 0:
            self._go_to(number, position)

    def _go_to(self, number: int, position: int) -> None:
        ahead = self._ahead or self._worker.submit(self._bulk, number)
        self._now, self._number, self._position = ahead.result(), number, position
        self._ahead = self._worker.submit(self._bulk, number + 1)

    def _bulk(self, number: int) -> _Bulk:
        generator = stream(self.seed, "scenes", "bulk", number)
        past = number * self._size * self.uses
        if self.groups is None or (self.groups_until is not None and past >= self.groups_until):
            return _Bulk(self._pairs(self.process.marginal, self._size, generator), self._order(1, generator))
        pictures = self._pairs(self.groups, self._size, generator)
        return _Bulk(pictures, self._order(self.groups.count, generator))

    def _order(self, count: int, generator: Generator) -> Tensor:
        """Put rows in a new order for each use, with groups of `count` kept together."""
        groups = torch.split(torch.arange(self._size), count)
        places = (torch.randperm(len(groups), generator=generator).tolist() for _ in range(self.uses))
        return torch.cat([groups[place] for order in places for place in order])

    def _pairs(self, anchors: Marginal, n: int, generator: Generator) -> PicturePairs:
        z = anchors.sample(n, generator)
        z_pos = self.process.conditional(z).sample(generator)
        return PicturePairs(self.draw(z), self.draw(z_pos), z)
