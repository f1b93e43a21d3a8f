"""What an estimator knows about single rows: their Λ̂, the inputs that matter, and rows like a point."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_is_fitted
from torch import nn

from aninfonce._validation import check_count, describe
from aninfonce.estimator.frames import Array, Floats
from aninfonce.losses import AnInfoNCE
from aninfonce.similarities import PerAnchor

if TYPE_CHECKING:
    from aninfonce.estimator.contrastive_ica import ContrastiveICA


class ByRow:
    """Methods that look at rows one by one."""

    @torch.no_grad()
    def concentration_at(self: ContrastiveICA, X: Any, *, groups: Any = None) -> Any:  # type: ignore[misc]
        """Λ̂ of each row as an anchor: how close its positives stay to it, in each column.

        Args:
            X: as in `fit`.
            groups: as in `fit`.

        Returns:
            (N, d), in the order of `transform`'s columns; a list for a list of sessions. Rows only differ
            with `concentration="per-anchor"`, unless a linear map was kept, which has one Λ̂. Otherwise each
            row is `concentration_`.

        """
        check_is_fitted(self)
        given = self._read(X, groups, reset=False)
        embedded = self._embed(given.frames)
        loss = self.loss_
        if not (isinstance(loss, AnInfoNCE) and isinstance(loss.similarity, PerAnchor)):
            found = np.where(np.isnan(embedded), np.nan, self.concentration_)
            return given.like_given(found.astype(embedded.dtype))
        device = next(self.encoder_.parameters()).device
        rows = torch.from_numpy(embedded).to(device)
        return given.like_given(loss.concentration_at(rows).cpu().numpy())

    def attribution(self: ContrastiveICA, X: Any, batch_size: int = 1024) -> Floats:  # type: ignore[misc]
        """Tell how much each column depends on each input.

        The mean over rows of |∂zₖ/∂xⱼ|, times the standard deviation of input j in X: how far a column moves,
        on average, if an input moves by its standard deviation and the others stay. Where inputs never move
        alone, such as two sensors of one thing, the network is free to use either, or their difference: then
        only their sum means something. `plots.attribution_plot` draws it.

        Args:
            X: rows (N, D); a few thousand are enough.
            batch_size: rows at once.

        Returns:
            (d, D); summed over the rows of a window.

        """
        check_is_fitted(self)
        frames = self._read(X, None, reset=False).frames
        shown = frames[np.flatnonzero(frames.usable)]
        found = mean_absolute_jacobian(self.encoder_, shown, batch_size=batch_size)
        if frames.window == 1:
            return found
        summed: Floats = found.reshape(len(found), frames.window, -1).sum(axis=1)
        return summed

    def inverse(self: ContrastiveICA, Z: Any, X: Any, n_neighbors: int = 1) -> Array:  # type: ignore[misc]
        """Show what a point of the embedding looks like: the row of X whose embedding is nearest to it.

        Args:
            Z: points (M, d) of the embedding, such as a walk along one column.
            X: rows (N, D), or sessions, to choose from.
            n_neighbors: number of nearest rows to average.

        Returns:
            (M, D).

        """
        check_is_fitted(self)
        frames = self._read(X, None, reset=False).frames
        usable = frames.usable
        rows, embedded = frames.rows[usable], self._embed(frames)[usable]
        points = np.asarray(Z, dtype=embedded.dtype)
        if points.ndim != 2 or points.shape[1] != embedded.shape[1] or not np.isfinite(points).all():
            raise ValueError(
                f"`Z` must be finite and of shape (M, {embedded.shape[1]}), got {describe(points)}"
            )
        if check_count(n_neighbors, "n_neighbors") > len(rows):
            raise ValueError(f"`n_neighbors` must be at most the {len(rows)} rows of X, got {n_neighbors}")
        nearest = NearestNeighbors(n_neighbors=n_neighbors).fit(embedded)
        found: Array = rows[nearest.kneighbors(points, return_distance=False)].mean(axis=1)
        return found


def mean_absolute_jacobian(encoder: nn.Module, x: Array, *, batch_size: int = 1024) -> Floats:
    """Average |∂zₖ/∂xⱼ| over rows, with each input in units of its standard deviation.

    One backward pass per column and batch, in float64: rows of a batch do not affect each other, so the
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
    # Apple's graphics processors have no float64.
    encoder = (encoder.cpu() if device.type == "mps" else encoder).double().eval().requires_grad_(False)
    device = next(encoder.parameters()).device
    total: Floats | None = None
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
    scaled: Floats = total / len(x) * np.std(x, axis=0, dtype=np.float64)
    return scaled
