"""How much each column of an embedding depends on each input."""

from __future__ import annotations

import copy

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from aninfonce._validation import check_count
from aninfonce.estimator.frames import Array


def mean_absolute_jacobian(
    encoder: nn.Module, x: Array, *, batch_size: int = 1024
) -> npt.NDArray[np.float64]:
    """Average |∂zₖ/∂xⱼ| over rows, each input counted in its standard deviations.

    One backward pass a column and batch, in float64: the rows of a batch do not touch each other, so that the
    gradient of a column's sum holds the gradients of all its rows.

    Example:
        >>> linear = nn.Linear(2, 1)
        >>> _ = linear.weight.data.copy_(torch.tensor([[3.0, -0.5]]))
        >>> mean_absolute_jacobian(linear, np.array([[0.0, 0.0], [2.0, 8.0]]))
        array([[3., 2.]])

    Args:
        encoder: from rows (n, D) to (n, d), each row by itself; a copy of it, in evaluation mode, is used.
        x: (N, D).
        batch_size: rows at once.

    Returns:
        (d, D).

    """
    check_count(batch_size, "batch_size")
    encoder = copy.deepcopy(encoder)
    device = next(encoder.parameters()).device
    # Apple's graphics know no float64.
    encoder = (encoder.cpu() if device.type == "mps" else encoder).double().eval().requires_grad_(False)
    device = next(encoder.parameters()).device
    total: npt.NDArray[np.float64] | None = None
    for start in range(0, len(x), batch_size):
        rows = torch.from_numpy(np.array(x[start : start + batch_size], dtype=np.float64)).to(device)
        with torch.enable_grad():
            rows.requires_grad_()
            columns = encoder(rows).sum(dim=0)
            parts = [torch.autograd.grad(column, rows, retain_graph=True)[0] for column in columns]
        sums = torch.stack([part.abs().sum(dim=0) for part in parts]).cpu().numpy()
        total = sums if total is None else total + sums
    if total is None:
        raise ValueError("`x` must have at least 1 row, got 0")
    scaled: npt.NDArray[np.float64] = total / len(x) * np.std(x, axis=0, dtype=np.float64)
    return scaled
