"""Scenes drawn while training: at random, or in groups that only some of their latents tell apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import torch
from torch import Generator, Tensor

from aninfonce.distributions import Uniform
from aninfonce.extending import BulkSource, Pixels, check_count, check_number, stream
from aninfonce.processes import DataGeneratingProcess, PairBatch
from aninfonce.spaces import Box
from aninfonce_papers.worlds.scenes.pairs import BOX, PicturePairs

ROTATION = (3, 4, 5)


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


@dataclass(frozen=True)
class _Bulk:
    pictures: PicturePairs
    order: Tensor

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, part: slice) -> PairBatch:
        return replace(self.pictures[self.order[part]], z=None)


class FreshScenes(BulkSource):
    """Pairs of pictures that are drawn while training, a bulk ahead, in a thread of its own.

    Drawing costs more than a step, so that each bulk is gone through several times, in a new order of its
    groups, which stay together if a batch is a multiple of theirs. What a bulk holds depends on its number
    alone.

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
        super().__init__(seed, bulk)
        self.process: DataGeneratingProcess = law
        self.draw = draw
        self.groups = groups
        self.groups_until = groups_until
        self.uses = check_count(uses, "uses")

    def sample(self, n: int, generator: Generator) -> PairBatch:
        """Draw `n` pairs with anchors at random, latents included."""
        return self._pairs(self.process.marginal, n, generator)[torch.arange(n)]

    def draw_bulk(self, number: int) -> _Bulk:
        """Draw a bulk: in groups until `groups_until`, and at random afterwards."""
        generator = stream(self._seed, "scenes", "bulk", number)
        past = number * self.bulk * self.uses
        groups = self.groups if self.groups_until is None or past < self.groups_until else None
        pictures = self._pairs(groups or self.process.marginal, self.bulk, generator)
        return _Bulk(pictures, self._order(1 if groups is None else groups.count, generator))

    def _order(self, count: int, generator: Generator) -> Tensor:
        """Put rows in a new order for each use, with groups of `count` kept together."""
        groups = torch.split(torch.arange(self.bulk), count)
        places = (torch.randperm(len(groups), generator=generator).tolist() for _ in range(self.uses))
        return torch.cat([groups[place] for order in places for place in order])

    def _pairs(self, anchors: Marginal, n: int, generator: Generator) -> PicturePairs:
        z = anchors.sample(n, generator)
        z_pos = self.process.conditional(z).sample(generator)
        return PicturePairs(self.draw(z), self.draw(z_pos), z)
