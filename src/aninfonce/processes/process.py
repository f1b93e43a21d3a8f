"""The data generating process: latents, what changes within a pair, and the mixing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Generator, Tensor

from aninfonce._validation import check_count
from aninfonce.distributions import Conditional
from aninfonce.mixing import Identity, Mixing
from aninfonce.processes.batch import PairBatch
from aninfonce.spaces import Space

ConditionalFactory = Callable[[Tensor], Conditional]


class Marginal(Protocol):
    """Where anchors come from: anything that draws (n, d) latents, such as `Uniform`."""

    def sample(self, n: int, generator: Generator | None = None) -> Tensor:
        """Draw `n` latents (n, d)."""


@dataclass(frozen=True)
class Centred:
    """A marginal that is one conditional law, placed at a fixed point.

    >>> from aninfonce.distributions import VonMisesFisher
    >>> north = Centred(lambda loc: VonMisesFisher(loc, 100.0), torch.tensor([0.0, 0.0, 1.0]))
    >>> bool((north.sample(50, torch.Generator().manual_seed(0))[:, 2] > 0.8).all())
    True

    Args:
        law: places the law at anchors (N, d).
        centre: the point (d,).

    """

    law: ConditionalFactory
    centre: Tensor

    def sample(self, n: int, generator: Generator | None = None) -> Tensor:
        """Draw `n` latents (n, d)."""
        return self.law(self.centre.expand(check_count(n, "n"), -1)).sample(generator)

    def log_prob(self, x: Tensor) -> Tensor:
        """Log-density of latents `x` (N, d): a tensor (N,)."""
        return self.law(self.centre[None]).log_prob(x[:, None])[:, 0]


@dataclass(frozen=True)
class HardNegatives:
    """`count` negatives per anchor, drawn around it like positives but from a law of their own."""

    conditional: ConditionalFactory
    count: int = 1

    def __post_init__(self) -> None:
        check_count(self.count, "count")

    def sample(self, z: Tensor, generator: Generator | None = None) -> Tensor:
        """Draw (N, K, d) negatives for anchors `z` (N, d)."""
        around = self.conditional(z.repeat_interleave(self.count, dim=0))
        return around.sample(generator).view(len(z), self.count, -1)


class DataGeneratingProcess:
    """Draws pairs: z from the marginal, z⁺ from the conditional at z, x = g(z), x⁺ = g(z⁺).

    >>> from aninfonce.distributions import FisherBingham, Uniform
    >>> from aninfonce.spaces import Sphere
    >>> sphere, concentration = Sphere(4), torch.tensor([5.0, 5.0, 25.0, 25.0])
    >>> process = DataGeneratingProcess(
    ...     sphere, Uniform(sphere), lambda z: FisherBingham(z, concentration), Identity()
    ... )
    >>> process.sample(8, torch.Generator().manual_seed(0)).x_pos.shape
    torch.Size([8, 4])
    >>> process.partitions()
    {'style': (0, 1), 'content': (2, 3)}

    Args:
        space: where the latents live.
        marginal: draws anchors.
        conditional: places the positive's law at anchors (N, d).
        mixing: the map g from latents to observations; the identity if omitted.
        negatives: hard negatives to draw along, if any.

    """

    def __init__(
        self,
        space: Space,
        marginal: Marginal,
        conditional: ConditionalFactory,
        mixing: Mixing | None = None,
        negatives: HardNegatives | None = None,
    ) -> None:
        self.space = space
        self.marginal = marginal
        self.conditional = conditional
        self.mixing = mixing if mixing is not None else Identity()
        self.negatives = negatives
        # A draw now brings a mismatch of sizes or spaces to light here, not in the training loop.
        with torch.random.fork_rng(devices=[]):
            probe = self.marginal.sample(1)
        self.space.check(probe, "marginal")
        self._concentration = _diagonal_concentration(conditional(probe), space.dim)
        self.mixing(probe)

    @property
    def dim(self) -> int:
        """Number of latents."""
        return self.space.dim

    @property
    def concentration(self) -> Tensor | None:
        """Diagonal of Λ (d,), where the conditional has one."""
        return self._concentration

    @torch.no_grad()
    def sample(self, n: int, generator: Generator | None = None) -> PairBatch:
        """Draw `n` pairs.

        Args:
            n: number of pairs.
            generator: source of randomness; torch's global one if omitted.

        Returns:
            Observations and latents of the pairs.

        """
        z = self.marginal.sample(n, generator)
        z_pos = self.conditional(z).sample(generator)
        z_neg = None if self.negatives is None else self.negatives.sample(z, generator)
        return PairBatch(
            x=self.mixing(z),
            x_pos=self.mixing(z_pos),
            x_neg=None if z_neg is None else self.mixing(z_neg.flatten(0, 1)).view(n, z_neg.shape[1], -1),
            z=z,
            z_pos=z_pos,
            z_neg=z_neg,
        )

    def partitions(self) -> dict[str, tuple[int, ...]]:
        """Group the latents that share a Λᵢᵢ: what the theorem identifies up to a rotation each.

        Returns:
            Indices by name, in order of increasing Λ: "style" and "content" if there are two groups,
            "all" if there is one, "Λ=5", "Λ=7", … otherwise.

        """
        if self._concentration is None:
            return {"all": tuple(range(self.dim))}
        values = self._concentration.tolist()
        groups = {v: tuple(i for i, w in enumerate(values) if w == v) for v in sorted(set(values))}
        if len(groups) == 1:
            names = ["all"]
        elif len(groups) == 2:
            names = ["style", "content"]
        else:
            names = [f"Λ={value:g}" for value in groups]
        return dict(zip(names, groups.values(), strict=True))


class EnsembleProcess:
    """Several processes that share anchors' law and mixing, and differ in what changes within a pair.

    Args:
        processes: the members; all with the same mixing object and space.

    References:
        Rusak et al., "InfoNCE: Identifying the Gap Between Theory and Practice", 2025, Corollary B.2.

    """

    def __init__(self, processes: Sequence[DataGeneratingProcess]) -> None:
        if len(processes) < 2:
            raise ValueError(f"`processes` must be at least two processes, got {len(processes)}")
        first = processes[0]
        for member in processes:
            if member.mixing is not first.mixing or member.space != first.space:
                raise ValueError("`processes` must share one mixing object and one space, got different ones")
        self.processes = tuple(processes)

    def sample(self, n: int, generator: Generator | None = None) -> tuple[PairBatch, ...]:
        """Draw `n` pairs from each member."""
        return tuple(member.sample(n, generator) for member in self.processes)


def _diagonal_concentration(law: Conditional, dim: int) -> Tensor | None:
    """Read the diagonal of Λ (d,) off a conditional law, if it has one."""
    concentration = getattr(law, "concentration", None)
    if concentration is None:
        return None
    return torch.as_tensor(concentration, dtype=torch.float32).expand(dim)
