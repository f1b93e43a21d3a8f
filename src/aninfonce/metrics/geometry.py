"""Label-free geometry of an embedding: effective rank, alignment and uniformity."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import entr, logsumexp

from aninfonce._validation import check_count, check_number
from aninfonce.metrics._arrays import Array, as_matrix, normalize_rows


def rankme(embeddings: Array) -> float:
    """Effective rank: the exponential of the entropy of the normalised singular values.

    Between 1 (collapse to a line) and min(N, d); 0 for an embedding of zeros. The embedding is not centred.

    Example:
        >>> import numpy as np
        >>> round(rankme(np.eye(6)), 6), round(rankme(np.ones((6, 6))), 6)
        (6.0, 1.0)

    Args:
        embeddings: (N, d) array or tensor.

    Returns:
        The effective rank.

    References:
        Garrido et al., RankMe: Assessing the downstream performance of pretrained self-supervised
        representations by their rank, ICML 2023. Their 1e-7 inside the logarithm is not needed here.

    """
    e = as_matrix(embeddings, "embeddings")
    largest = np.abs(e).max()
    if largest == 0:
        return 0.0
    # The triangle of a QR has the singular values of the whole at a fraction of the work.
    triangle = np.linalg.qr(e / largest, mode="r")
    singular = np.linalg.svd(triangle, compute_uv=False)
    return float(np.exp(entr(singular / singular.sum()).sum()))


def alignment(embeddings: Array, positives: Array, *, alpha: float = 2.0, normalize: bool = True) -> float:
    """Mean distance of positive pairs to the power alpha; 0 if pairs coincide.

    Example:
        >>> import numpy as np
        >>> alignment(np.array([[1.0, 0.0]]), np.array([[0.0, 3.0]]))
        2.0

    Args:
        embeddings: (N, d) array or tensor.
        positives: (N, d), the partner of each row.
        alpha: power of the distance.
        normalize: whether to project onto the unit sphere first, where the definition lives (a row of
            zeros stays zero).

    Returns:
        The alignment; lower is closer.

    References:
        Wang and Isola, Understanding contrastive representation learning through alignment and uniformity on
        the hypersphere, ICML 2020.

    """
    a = as_matrix(embeddings, "embeddings", squares=not normalize)
    b = as_matrix(
        positives,
        "positives",
        rows=("embeddings", len(a)),
        columns=("embeddings", a.shape[1]),
        squares=not normalize,
    )
    check_number(alpha, "alpha", minimum=0.0, exclusive=True)
    if normalize:
        a, b = normalize_rows(a), normalize_rows(b)
    return float((((a - b) ** 2).sum(axis=1) ** (alpha / 2)).mean())


def uniformity(embeddings: Array, *, t: float = 2.0, normalize: bool = True, tile: int = 1024) -> float:
    """Logarithm of the mean Gaussian potential exp(−t‖Δ‖²) over all pairs of distinct rows.

    0 for a collapsed embedding; on the unit sphere never below −4t, and lowest for the uniform distribution.

    Example:
        >>> import numpy as np
        >>> opposite, collapsed = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.ones((5, 3))
        >>> round(uniformity(opposite), 6), abs(uniformity(collapsed)) < 1e-12
        (-8.0, True)

    Args:
        embeddings: (N, d) array or tensor, N at least 2.
        t: sharpness of the potential.
        normalize: as in `alignment`.
        tile: rows compared at a time; memory is O(tile²), never N×N.

    Returns:
        The uniformity; lower is more uniform.

    References:
        Wang and Isola, ICML 2020, as in `alignment`.

    """
    e = as_matrix(embeddings, "embeddings", min_rows=2, squares=not normalize)
    check_number(t, "t", minimum=0.0, exclusive=True)
    check_count(tile, "tile")
    if normalize:
        e = normalize_rows(e)
    squares = (e**2).sum(axis=1)
    total = -math.inf
    for i in range(0, len(e), tile):
        for j in range(i, len(e), tile):
            rows, columns = slice(i, i + tile), slice(j, j + tile)
            squared = squares[rows, None] + squares[columns] - 2.0 * e[rows] @ e[columns].T
            exponent = -t * np.maximum(squared, 0.0)
            if i == j:
                exponent = exponent[np.triu_indices(len(exponent), 1)]
            if exponent.size:
                total = float(np.logaddexp(total, logsumexp(exponent)))
    return total - math.log(len(e) * (len(e) - 1) / 2)
