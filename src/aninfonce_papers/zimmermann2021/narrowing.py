"""From many columns to as many as there are latents, without labels: the last layer after a wide start."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

_RIDGE = 1e-4


def telling_directions(kinds: Sequence[tuple[Tensor, int]], steps: Tensor) -> Tensor:
    """Find the directions in which members of one kind of groups differ, and those of other kinds do not.

    Members of a group share all latents but some, and kinds differ in which these are. A direction that
    follows a latent varies in the groups that leave it free, beside little variation in other groups and
    within pairs: it is a leading eigenvector of the one covariance beside the mean of the others.

    Example:
        >>> draw = torch.Generator().manual_seed(0)
        >>> z = 0.1 * torch.randn(2, 50, 8, 2, generator=draw)  # two kinds, each of 50 groups of 8
        >>> for kind in (0, 1):
        ...     z[kind, ..., kind] += torch.randn(50, 8, generator=draw)
        >>> mixed = z @ torch.tensor([[1.0, 0.5], [-0.3, 1.0]])
        >>> steps = 0.1 * torch.randn(99, 2, generator=draw)
        >>> found = telling_directions([(kind, 1) for kind in mixed], steps)
        >>> weights = torch.tensor([[1.0, 0.5], [-0.3, 1.0]]) @ found  # of both latents, in each direction
        >>> bool((weights.diag().abs() > 10 * weights.fliplr().diag().abs()).all())
        True

    Args:
        kinds: for each kind its embeddings (groups, members, k), and how many directions to find.
        steps: differences of embeddings within pairs (n, k).

    Returns:
        The directions (k, as many as asked for), in the order of the kinds.

    """
    within = [_covariance(h - h.mean(dim=1, keepdim=True)) for h, _ in kinds]
    total = torch.stack(within).sum(dim=0)
    noise = _covariance(steps)
    noise += _RIDGE * noise.diagonal().mean() * torch.eye(len(noise), dtype=noise.dtype)
    found = []
    for own, (_, count) in zip(within, kinds, strict=True):
        # Of what is left: the other kinds, on average.
        beside = (total - own) / max(1, len(kinds) - 1) + noise
        root = torch.linalg.inv(torch.linalg.cholesky(beside))
        axes = torch.linalg.eigh(root @ own @ root.T).eigenvectors
        found.append(root.T @ axes[:, -count:].flip(1))
    return torch.cat(found, dim=1).to(steps.dtype)


def _covariance(differences: Tensor) -> Tensor:
    rows = differences.flatten(0, -2).double()
    return rows.T @ rows / len(rows)


@torch.no_grad()
def narrow(
    network: nn.Module, wide: nn.Module, directions: Tensor, outputs: tuple[Tensor, Tensor], step: float
) -> None:
    """Give a network all layers of a wider one, and these directions of its outputs.

    The last linear layer, and the one before it, are then brought to the same norm, which changes nothing in
    what they do: the rectifier between them has no scale.

    Args:
        network: with as many columns as there are directions.
        wide: the same network but for its last linear layer.
        directions: of its outputs (k, columns).
        outputs: of the wide network for both sides of some pairs, (n, k) each.
        step: standard deviation of each new column within pairs.

    """
    shapes = {name: value.shape for name, value in network.state_dict().items()}
    same = {name: value for name, value in wide.state_dict().items() if value.shape == shapes.get(name)}
    left = {name.rpartition(".")[0] for name in set(shapes) - set(same)}
    if len(left) > 1:
        raise ValueError(f"`wide` must differ from `network` in one layer, got {sorted(left)}")
    network.load_state_dict(same, strict=False)
    *_, before, last = (part for part in network.modules() if isinstance(part, nn.Linear))
    *_, source = (part for part in wide.modules() if isinstance(part, nn.Linear))
    columns, columns_pos = (h @ directions for h in outputs)
    # A step is the difference of two sides.
    within = (columns - columns_pos).square().mean(dim=0).div(2).sqrt()
    map_ = directions * (step / within)
    last.weight.copy_(map_.T @ source.weight)
    last.bias.copy_(map_.T @ source.bias - (outputs[0] @ map_).mean(dim=0))
    first, second = (torch.linalg.matrix_norm(part.weight, 2) for part in (before, last))
    share = (first / second).sqrt()
    for part, factor in ((before.weight, 1 / share), (before.bias, 1 / share), (last.weight, share)):
        part.mul_(factor)
