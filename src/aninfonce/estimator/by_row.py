"""Λ̂ of single rows, where steps depend on where they start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted

from aninfonce.losses import AnInfoNCE
from aninfonce.similarities import PerAnchor

if TYPE_CHECKING:
    from aninfonce.estimator.contrastive_ica import ContrastiveICA


class ByRow:
    """What an estimator knows of single rows beside their embedding."""

    @torch.no_grad()
    def concentration_at(self: ContrastiveICA, X: Any, *, groups: Any = None) -> Any:  # type: ignore[misc]
        """Λ̂ of each row as an anchor: how closely its positives keep to it, in each column.

        Args:
            X: as in `fit`.
            groups: as in `fit`.

        Returns:
            (N, d), in the order of `transform`'s columns; a list for a list of sessions. Rows differ only
            with `concentration="per-anchor"`, and unless a linear map was kept, which has one Λ̂; otherwise
            each is `concentration_`.

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
