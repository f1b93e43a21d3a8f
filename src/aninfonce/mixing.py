"""Generators g: from latents to observations, invertible and frozen."""

from __future__ import annotations

import torch
from torch import Generator, Tensor, nn

from aninfonce._validation import check_count, check_matrix, check_number


class Mixing(nn.Module):
    """A map g from latents (N, d) to observations (N, D), with an inverse where it is known."""

    def inverse(self, x: Tensor) -> Tensor:
        """Recover the latents (N, d) behind observations `x` (N, D), up to rounding."""
        raise NotImplementedError


class Identity(Mixing):
    """No mixing: observations are the latents. For tests and for studying losses alone.

    >>> Identity()(torch.ones(1, 2))
    tensor([[1., 1.]])
    """

    def forward(self, z: Tensor) -> Tensor:
        """Return `z` itself."""
        return z

    def inverse(self, x: Tensor) -> Tensor:
        """Return `x` itself."""
        return x


class InvertibleMLP(Mixing):
    """Square linear layers without bias, leaky ReLU between them: the mixing of both papers.

    Entries are uniform on (−1, 1), columns scaled to unit length, and each layer is the best conditioned
    of `candidates` such matrices. (The authors redraw each layer until it is as well conditioned as
    the best of 25 000: the same law in fewer lines, and no loop without end.)

    >>> g = InvertibleMLP(3, candidates=100, generator=torch.Generator().manual_seed(0))
    >>> z = torch.rand(5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    >>> torch.allclose(g.inverse(g(z)), z)
    True

    Args:
        dim: d, of latents and observations.
        layers: number of linear layers.
        slope: of the leaky ReLU for negative inputs.
        candidates: matrices drawn for each layer.
        generator: source of the weights; torch's global one if omitted.

    References:
        Zimmermann et al., "Contrastive Learning Inverts the Data Generating Process", 2021.

    """

    weights: Tensor

    def __init__(
        self,
        dim: int,
        layers: int = 3,
        slope: float = 0.2,
        candidates: int = 25_000,
        generator: Generator | None = None,
    ) -> None:
        super().__init__()
        check_count(dim, "dim")
        check_count(layers, "layers")
        check_count(candidates, "candidates")
        self.slope = check_number(slope, "slope", minimum=0, exclusive=True)
        # A buffer, not a parameter: the world is not trained.
        chosen = [_best_conditioned(dim, candidates, generator) for _ in range(layers)]
        self.register_buffer("weights", torch.stack(chosen))

    @property
    def dim(self) -> int:
        """Number of latents, and of observed coordinates."""
        return int(self.weights.shape[-1])

    def condition_numbers(self) -> Tensor:
        """Ratio of largest to smallest singular value of each layer: a tensor (layers,)."""
        condition: Tensor = torch.linalg.cond(self.weights)
        return condition

    def forward(self, z: Tensor) -> Tensor:
        """Mix latents `z` (N, d) to observations (N, d)."""
        first, *others = self.weights.to(z.dtype)
        x: Tensor = z @ first.T
        for weight in others:
            x = nn.functional.leaky_relu(x, self.slope) @ weight.T
        return x

    def inverse(self, x: Tensor) -> Tensor:
        """Recover the latents (N, d) of observations `x` (N, d), solved in float64."""
        check_matrix(x, "x", columns=self.dim)
        *others, last = reversed(self.weights.double())
        z = x.double()
        for weight in others:
            z = nn.functional.leaky_relu(torch.linalg.solve(weight, z.T).T, 1 / self.slope)
        latents: Tensor = torch.linalg.solve(last, z.T).T
        return latents.to(x.dtype)


def _best_conditioned(dim: int, candidates: int, generator: Generator | None) -> Tensor:
    """Draw `candidates` matrices and return the best conditioned one, (d, d)."""
    device = generator.device if generator is not None else None
    best, lowest = torch.empty(0), float("inf")
    block = max(1, 1_000_000 // dim**2)
    for start in range(0, candidates, block):
        count = min(block, candidates - start)
        drawn = torch.rand(count, dim, dim, generator=generator, device=device) * 2 - 1
        drawn = nn.functional.normalize(drawn, dim=1)
        # Squared condition number from the Gram matrix: several times faster than singular values.
        spectrum = torch.linalg.eigvalsh(drawn.mT @ drawn)
        squared = spectrum[:, -1] / spectrum[:, 0].clamp_min(1e-12)
        if float(squared.min()) < lowest:
            best, lowest = drawn[squared.argmin()], float(squared.min())
    return best
