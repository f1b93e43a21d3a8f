"""Which inputs each factor is read from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aninfonce._validation import check_count, describe
from aninfonce.plots._arrays import as_matrix
from aninfonce.plots._axes import Figure, new_axes, whole_ticks


def attribution_plot(matrix: Any, feature_names: Sequence[str] | None = None, *, most: int = 30) -> Figure:
    """Draw a heat map of factors and inputs; of many inputs only those that matter most to any factor.

    Example:
        >>> figure = attribution_plot([[1.0, 0.0, 0.2], [0.0, 2.0, 0.1]], ["left", "right", "both"])
        >>> [tick.get_text() for tick in figure.axes[0].get_xticklabels()]
        ['left', 'right', 'both']

    Args:
        matrix: (d, D), at least 0: how much each of d factors depends on each of D inputs.
        feature_names: (D,) names of the inputs; their numbers if None.
        most: inputs that are shown at most, in their own order.

    """
    cells = as_matrix(matrix, "matrix")
    if (cells < 0).any():
        raise ValueError(f"`matrix` must be at least 0, got {cells.min():g}")
    check_count(most, "most")
    names = [str(k) for k in range(cells.shape[1])] if feature_names is None else [*map(str, feature_names)]
    if len(names) != cells.shape[1]:
        raise ValueError(
            f"`feature_names` must have a name for each of the {cells.shape[1]} inputs, got"
            f" {describe(feature_names)} with {len(names)}"
        )
    # A factor that depends strongly on everything must not crowd out the inputs of the others.
    share = cells / np.maximum(cells.max(axis=1, keepdims=True), np.finfo(float).tiny)
    kept = np.sort(np.argsort(-share.max(axis=0), kind="stable")[:most])
    factors = len(cells)
    figure, axes = new_axes(
        width=float(np.clip(2.6 + 0.34 * len(kept), 4.8, 11.0)),
        height=float(np.clip(1.7 + 0.3 * factors, 2.6, 8.0)),
    )
    image = axes.imshow(cells[:, kept], aspect="auto", cmap="Blues", vmin=0.0, interpolation="nearest")
    axes.set_xticks(range(len(kept)), [names[k] for k in kept])
    if max(len(names[k]) for k in kept) > 3:
        axes.tick_params(axis="x", rotation=90 if len(kept) > 8 else 45)
        for label in axes.get_xticklabels():
            label.set(
                ha="center" if len(kept) > 8 else "right",
                rotation_mode="default" if len(kept) > 8 else "anchor",
            )
    whole_ticks(axes.yaxis, np.arange(factors))
    axes.spines[:].set_visible(False)
    few = len(kept) < cells.shape[1]
    axes.set(xlabel=f"input ({len(kept)} of {cells.shape[1]})" if few else "input", ylabel="column")
    figure.colorbar(image, ax=axes, label="mean change per\nstandard deviation", pad=0.02)
    return figure
