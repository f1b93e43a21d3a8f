"""Pairs in flat space whose steps are larger in one place than in another, drawn exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Generator, Tensor

from aninfonce.distributions import Conditional, Uniform
from aninfonce.extending import check_number, stream
from aninfonce.mixing import InvertibleMLP
from aninfonce.processes import DataGeneratingProcess
from aninfonce.spaces import Box, Euclidean

# Half the edge of the cube that anchors are uniform in: latents of unit variance.
REACH = math.sqrt(3.0)


class NormalSteps(Conditional):
    """Δ normal with a Λ of its own at each anchor, or one of two at random.

    Example:
        >>> around = NormalSteps(torch.zeros(2, 3), torch.tensor([[1.0, 4.0, 9.0], [1.0, 1.0, 1.0]]))
        >>> around.sample(torch.Generator().manual_seed(0)).shape
        torch.Size([2, 3])

    Args:
        loc: anchors (N, d).
        concentration: Λ of each, (N, d).
        other: that of the other kind of pairs, (N, d); each pair is of either kind with even odds.

    """

    def __init__(self, loc: Tensor, concentration: Tensor, other: Tensor | None = None) -> None:
        self.loc = loc
        self.kinds = (concentration,) if other is None else (concentration, other)

    def sample(self, generator: Generator | None = None) -> Tensor:
        """Draw one point around each row of `loc`: a tensor (N, d)."""
        values, *others = self.kinds
        for other in others:
            coin = torch.rand(len(self.loc), 1, generator=generator, dtype=self.loc.dtype)
            values = torch.where(coin < 0.5, values, other)
        step = torch.randn(self.loc.shape, generator=generator, dtype=self.loc.dtype)
        return self.loc + step / values.sqrt()

    def log_prob(self, x: Tensor) -> Tensor:
        """Log-density of `x` (..., N, d), row i under the law at anchor i."""
        logs = [
            (-0.5 * (x - self.loc).square() * values + 0.5 * (values / (2 * math.pi)).log()).sum(dim=-1)
            for values in self.kinds
        ]
        return torch.stack(logs).logsumexp(dim=0) - math.log(len(logs))


def concentration_by_place(z: Tensor, base: Tensor, factor: float) -> Tensor:
    """Give Λ (N, d) of anchors (N, d): from one end of the first latent to the other it changes by `factor`.

    Λ of the first latent, the third and so on rises along the first latent, that of the others falls.

    >>> ends = torch.tensor([[-REACH, 0.0], [0.0, 0.0], [REACH, 0.0]])
    >>> concentration_by_place(ends, torch.tensor([4.0, 8.0]), 16.0)
    tensor([[ 1., 32.],
            [ 4.,  8.],
            [16.,  2.]])
    """
    rises = torch.where(torch.arange(len(base)) % 2 == 0, 1.0, -1.0).to(z)
    return base.to(z) * factor ** (rises * z[:, :1] / (2 * REACH))


def steps_by_place(
    base: Sequence[float], factor: float, seed: int, *, kinds: bool = False, candidates: int = 1_000
) -> DataGeneratingProcess:
    """Build the process: anchors uniform in a cube, normal steps, the papers' mixing.

    Example:
        >>> process = steps_by_place([4.0, 8.0], 4.0, seed=0, candidates=10)
        >>> process.sample(5, torch.Generator().manual_seed(0)).x_pos.shape
        torch.Size([5, 2])

    Args:
        base: Λ in the middle of the cube, (d,).
        factor: by which Λ changes from one end of the first latent to the other.
        seed: of the mixing.
        kinds: instead, two kinds of pairs with even odds, wherever the anchor is: those of the two ends.
        candidates: matrices drawn for each layer of the mixing.

    """
    check_number(factor, "factor", minimum=1.0)
    middle, dim = torch.tensor(list(base)), len(base)

    def at(z: Tensor) -> NormalSteps:
        if not kinds:
            return NormalSteps(z, concentration_by_place(z, middle, factor))
        ends = (torch.full_like(z, end) for end in (REACH, -REACH))
        return NormalSteps(z, *(concentration_by_place(end, middle, factor) for end in ends))

    mixing = InvertibleMLP(dim, candidates=candidates, generator=stream(seed, "mixing"))
    return DataGeneratingProcess(Euclidean(dim), Uniform(Box(dim, -REACH, REACH)), at, mixing)


def outside(count: int, dim: int, generator: Generator) -> Tensor:
    """Draw `count` rows in a cube of 1.5 times the edge, and keep those outside the anchors' cube, (n, d)."""
    z = Uniform(Box(dim, -1.5 * REACH, 1.5 * REACH)).sample(count, generator)
    return z[(z.abs() > REACH).any(dim=1)]
