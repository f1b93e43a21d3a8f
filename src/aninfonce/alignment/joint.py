"""One rotation for several matrices: joint diagonalisation by plane rotations."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from aninfonce._validation import check_count, describe

# Angles below this move nothing that could be seen in double precision.
_SMALLEST_ANGLE = 1e-10


class JointAxes(NamedTuple):
    """A rotation and what is left off the diagonals after it."""

    axes: Tensor
    """(d, d), in columns; orthogonal."""
    diagonals: Tensor
    """(L, d), one row for each matrix."""
    residual: float
    """Share of the sum of squares that is off the diagonals: 0 if the matrices commute."""


def joint_diagonalisation(matrices: Tensor, *, sweeps: int = 100) -> JointAxes:
    """Find the rotation that makes several symmetric matrices as diagonal as they can be together.

    One matrix leaves the axes of equal eigenvalues free; a second one with other eigenvalues may tell them
    apart. For one matrix this is its eigendecomposition. Written here because scipy has none: Jacobi's
    method, in which each pair of axes is turned by the angle that is best for all matrices at once.

    Example:
        >>> turn = torch.linalg.qr(torch.randn(3, 3, generator=torch.Generator().manual_seed(0)))[0]
        >>> values = torch.tensor([[1.0, 1.0, 2.0], [1.0, 3.0, 3.0]])
        >>> found = joint_diagonalisation(turn @ torch.diag_embed(values) @ turn.T)
        >>> found.residual < 1e-9, (found.axes.T.float() @ turn).abs().max(dim=0).values.round(decimals=3)
        (True, tensor([1., 1., 1.]))

    Args:
        matrices: (L, d, d), symmetric.
        sweeps: over all pairs of axes, at most.

    Returns:
        The rotation, in float64, with axes in ascending order of the first matrix's diagonal.

    References:
        Cardoso and Souloumiac, "Jacobi angles for simultaneous diagonalization" (1996).

    """
    check_count(sweeps, "sweeps")
    if not isinstance(matrices, Tensor) or matrices.ndim != 3 or matrices.shape[1] != matrices.shape[2]:
        raise ValueError(f"`matrices` must have shape (L, d, d), got {describe(matrices)}")
    # The eigenvectors of the mean are a start from which a few sweeps are enough.
    turned = matrices.double().cpu()
    turned = 0.5 * (turned + turned.transpose(1, 2))
    axes = torch.linalg.eigh(turned.mean(dim=0)).eigenvectors
    turned = axes.T @ turned @ axes
    for _ in range(sweeps if len(turned) > 1 else 0):
        if not _sweep(turned, axes):
            break
    diagonals = turned.diagonal(dim1=1, dim2=2)
    order = diagonals[0].argsort()
    total = float(turned.square().sum())
    left = total - float(diagonals.square().sum())
    return JointAxes(axes[:, order], diagonals[:, order].clone(), max(0.0, left) / max(total, 1e-300))


def _sweep(turned: Tensor, axes: Tensor) -> bool:
    """Turn every pair of axes once, in place; say whether any moved."""
    moved = False
    for p in range(len(axes)):
        for q in range(p + 1, len(axes)):
            half = 0.5 * (turned[:, p, p] - turned[:, q, q])
            off = turned[:, p, q]
            # The best angle θ has 4θ as the direction of Σ (half + i·off)².
            angle = 0.25 * float(torch.atan2(2 * (half * off).sum(), (half * half - off * off).sum()))
            if abs(angle) < _SMALLEST_ANGLE:
                continue
            moved = True
            c, s = torch.cos(torch.tensor(angle)).double(), torch.sin(torch.tensor(angle)).double()
            turn = torch.stack([torch.stack([c, -s]), torch.stack([s, c])])
            both = [p, q]
            turned[:, :, both] = turned[:, :, both] @ turn
            turned[:, both, :] = turn.T @ turned[:, both, :]
            axes[:, both] = axes[:, both] @ turn
    return moved
