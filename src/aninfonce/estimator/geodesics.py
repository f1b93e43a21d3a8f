"""A start without folds: geodesics between rows, in a metric that counts only what pairs share.

Pairs say how close two rows are only where they are close: far apart, one row is as unlikely a partner as
another. So a sheet of factors can be laid out with a fold that costs few bits, and no small step removes it.
Lengths of paths through neighbours do tell far from near (Isomap): an encoder that starts from coordinates
made of them starts without the fold. Training then goes on as usual.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from scipy.linalg import eigh
from scipy.spatial.distance import pdist, squareform
from torch import Tensor, nn

from aninfonce._seeds import global_stream
from aninfonce.alignment.columns import set_concentration, similarity_of
from aninfonce.encoders.embedding import Embedding, embed_in_chunks
from aninfonce.estimator.frames import Floats
from aninfonce.losses.ensemble import members
from aninfonce.processes import PairBatch

# Most rows between which paths are searched: time and memory grow with their square.
_LANDMARKS = 2500
_FEWEST = 50
# Neighbours of a row in the graph: with too few it falls apart, too many cut corners. The better one is kept.
_NEIGHBOURS = (5, 10)
# Rows that the distances of all to all are compared on.
_COMPARED = 600
# Share of the mean variance that is added to each direction, or those with hardly any would decide.
_RIDGE = 1e-3
_STEPS, _BATCH, _RATE = 400, 256, 3e-3
_SMALLEST = 1e-6


class Unrolled(NamedTuple):
    """Coordinates whose distances are lengths of paths, as nearly as they can be.

    Attributes:
        coordinates: (N, d), centred, of unit variance on average.
        residual: share of the variance of the lengths that distances of the coordinates do not explain.

    """

    coordinates: Floats
    residual: float


def lasting_directions(x: Floats, x_pos: Floats) -> Floats:
    """Find the directions along which pairs agree, each scaled by its correlation over pairs.

    Distances between rows that are mapped by these count what pairs share, and leave out noise.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> shared, noise = rng.normal(size=(5000, 1)), rng.normal(size=(2, 5000, 1))
        >>> x, x_pos = (np.hstack([shared, part]) for part in noise)
        >>> np.abs(lasting_directions(x, x_pos)).round(1)
        array([[1., 0.],
               [0., 0.]])

    Args:
        x: anchors (N, D).
        x_pos: their positives (N, D).

    Returns:
        (D, k), k at most D, with the strongest first: rows are mapped by `rows @ directions`.

    References:
        Noé and Clementi, "Kinetic distance and kinetic maps from molecular dynamics simulation" (2015).

    """
    centre = 0.5 * (x.mean(axis=0) + x_pos.mean(axis=0))
    a, b = x - centre, x_pos - centre
    if 2 * len(a) < a.shape[1]:
        # Pairs say nothing about directions that they do not span.
        basis = np.linalg.svd(np.concatenate([a, b]), full_matrices=False)[2].T
        a, b = a @ basis, b @ basis
    else:
        basis = np.eye(a.shape[1])
    spread, shared = (a.T @ a + b.T @ b) / (2 * len(a)), (a.T @ b + b.T @ a) / (2 * len(a))
    ridge = _RIDGE * np.trace(spread) / x.shape[1]
    values, axes = eigh(shared, spread + ridge * np.eye(len(spread)))
    kept = np.flatnonzero(values > 0)[::-1]
    directions: Floats = basis @ (axes[:, kept] * values[kept])
    return directions


def unroll(rows: Floats, dim: int) -> Unrolled:
    """Lay rows out so that their distances are those along the sheet they lie on: scikit-learn's Isomap.

    Example:
        >>> turn = np.linspace(1, 12, 400)
        >>> roll = np.stack([turn * np.cos(turn), turn * np.sin(turn)], axis=1)
        >>> found = unroll(roll, 1)
        >>> found.residual < 0.01, bool(abs(np.corrcoef(found.coordinates[:, 0], turn**2)[0, 1]) > 0.99)
        (True, True)

    Args:
        rows: (N, k).
        dim: d, columns of the result.

    Returns:
        The coordinates, with the number of neighbours that leaves the smaller residual.

    References:
        Tenenbaum, de Silva and Langford, "A global geometric framework for nonlinear dimensionality
        reduction" (2000).

    """
    from sklearn.manifold import Isomap

    found = []
    for neighbours in _NEIGHBOURS:
        with warnings.catch_warnings():
            # Pieces of a graph are joined where they are nearest; the residual shows what that is worth.
            warnings.simplefilter("ignore")
            model = Isomap(n_neighbors=neighbours, n_components=dim).fit(rows)
        some = np.linspace(0, len(rows) - 1, min(_COMPARED, len(rows))).astype(np.intp)
        lengths = squareform(model.dist_matrix_[np.ix_(some, some)], checks=False)
        fit = np.corrcoef(lengths, pdist(model.embedding_[some]))[0, 1]
        # One scale for all columns, since they are lengths.
        scaled = model.embedding_ / np.sqrt((model.embedding_**2).mean())
        found.append(Unrolled(scaled, float(1.0 - fit**2)))
    return min(found, key=lambda one: one.residual)


def start_unrolled(embedding: Embedding, loss: nn.Module, kinds: Sequence[PairBatch], seed: int) -> float:
    """Fit the weights of an encoder, and Λ̂, to the unrolled rows; both are changed in place.

    Args:
        embedding: in Rᵈ, with the scale of its inputs set.
        loss: whose Λ̂, if it has one, is set by the steps within pairs.
        kinds: pairs, one kind for each Λ̂; the first gives the metric.
        seed: of the order of rows and of dropout.

    Returns:
        The residual of `unroll`.

    """
    device = next(embedding.parameters()).device
    if kinds[0].x.ndim > 2:
        raise ValueError("`start` must be 'random' for pictures: near pixels are not near factors")
    sides = [embed_in_chunks(embedding, side, embedding.inputs) for side in (kinds[0].x, kinds[0].x_pos)]
    x, x_pos = (side.double().cpu().numpy() for side in sides)
    landmarks = slice(None, None, -(-len(x) // _LANDMARKS))
    if len(x[landmarks]) < _FEWEST:
        raise ValueError(
            f"`start` must be 'random' for fewer than {_FEWEST} pairs, got 'geodesic' and {len(x)}"
        )
    with torch.no_grad():
        dim = embedding.headless(kinds[0].x[:2].to(sides[0])).shape[1]
    found = unroll(x[landmarks] @ lasting_directions(x, x_pos), dim)
    with global_stream(seed, "geodesics", device=device):
        _regress(embedding, kinds[0].x[landmarks].to(sides[0]), torch.from_numpy(found.coordinates))
    for part, pairs in zip(members(loss), kinds, strict=False):
        steps = embed_in_chunks(embedding, pairs.x) - embed_in_chunks(embedding, pairs.x_pos)
        set_concentration(similarity_of(part), steps.square().mean(dim=0).clamp_min(_SMALLEST).reciprocal())
    return found.residual


def _regress(embedding: Embedding, x: Tensor, wanted: Tensor) -> None:
    """Fit the wanted coordinates by a few hundred steps of least squares."""
    weights = [weight for weight in embedding.parameters() if weight.requires_grad]
    wanted = wanted.to(x)
    optimizer = torch.optim.Adam(weights, lr=_RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, _RATE, total_steps=_STEPS)
    embedding.train()
    for _ in range(_STEPS):
        rows = torch.randint(len(x), (_BATCH,), device=x.device)
        optimizer.zero_grad()
        torch.autograd.backward((embedding.headless(x[rows]) - wanted[rows]).square().mean())
        optimizer.step()
        schedule.step()
