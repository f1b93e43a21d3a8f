"""Whether two runs agree, up to what the theory leaves open and compared with runs on broken pairs."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import orthogonal_procrustes
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from aninfonce._validation import describe
from aninfonce.diagnostics.concentration import linked
from aninfonce.estimator.alerts import ContrastiveICAWarning
from aninfonce.estimator.contrastive_ica import ContrastiveICA
from aninfonce.estimator.frames import Floats, Index
from aninfonce.estimator.pairs import Augment, shuffled
from aninfonce.metrics import linear_r2


@dataclass(frozen=True)
class Consistency:
    """Agreement of two embeddings of the same rows.

    Attributes:
        agreement: mean R² over columns after the permitted transformation: a sign for a factor with a Λ of
            its own, a rotation within a block of equal Λ. 1 if the runs found the same factors.
        per_column: the same, one number per column.
        blocks: columns that were rotated together: those that share a Λ in either run.
        linear: mean R² of any linear map between the two. Above `agreement` if both hold the same factors
            in other directions.
        control: `agreement` of two runs on broken pairs; None if it was not asked for. If it is high, the
            distribution of the rows alone makes runs agree, and `agreement` says little about the pairs.
        flags: what is unusual, in words.

    """

    agreement: float
    per_column: tuple[float, ...]
    blocks: tuple[tuple[int, ...], ...]
    linear: float
    control: float | None
    flags: tuple[str, ...] = ()


def consistency(
    est_a: ContrastiveICA,
    est_b: ContrastiveICA,
    X: Any,
    y: Any = None,
    *,
    X_pos: Any = None,
    groups: Any = None,
    augment: Augment | None = None,
    control: bool = True,
) -> Consistency:
    """Compare two fitted estimators, and two more that are trained on shuffled pairs.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> z = rng.normal(size=(500, 2))
        >>> ica = ContrastiveICA(n_components=2, max_steps=20, random_state=0).fit(z, z + 0.1)
        >>> other = ContrastiveICA(n_components=2, max_steps=20, random_state=1).fit(z, z + 0.1)
        >>> found = consistency(ica, other, z, control=False)
        >>> found.agreement <= found.linear + 0.05
        True

    Args:
        est_a: fitted.
        est_b: fitted, with the same number of columns; from another seed, or on other rows.
        X: rows (N, D), preferably rows that neither has seen.
        y: positives of X, as in `ContrastiveICA.fit`; only used for the control.
        X_pos: likewise; if nothing is given, pairs are made as `est_a` made them.
        groups: likewise.
        augment: likewise.
        control: whether to also train two clones on shuffled pairs of X. Takes as long as the two fits.

    Returns:
        The agreement and its control.

    """
    check_is_fitted(est_a)
    check_is_fitted(est_b)
    sessions = {} if groups is None else {"groups": groups}
    a, b = (_as_matrix(estimator.transform(X, **sessions)) for estimator in (est_a, est_b))
    if a.shape[1] != b.shape[1]:
        raise ValueError(f"`est_b` must have the {a.shape[1]} columns of `est_a`, got {describe(b)}")
    if len(a) < 4:
        raise ValueError(f"`X` must have at least 4 rows, got {len(a)}")
    shared = np.zeros((a.shape[1], a.shape[1]), dtype=bool)
    for block in [*est_a.blocks_, *est_b.blocks_]:
        shared[np.ix_(block, block)] = True
    blocks = linked(shared)
    per_column = _agreement(a, b, blocks)
    flags = []
    if np.array_equal(a, b):
        flags.append("the embeddings are equal: the two seem to be one run")
    if len(blocks) == 1 and a.shape[1] > 1:
        flags.append("all columns share one block: nothing but a common rotation is identified")
    value = _control(est_a, est_b, X, (y, X_pos, groups, augment)) if control else None
    return Consistency(
        agreement=float(per_column.mean()),
        per_column=tuple(per_column.tolist()),
        blocks=tuple(tuple(block.tolist()) for block in blocks),
        linear=0.5 * (linear_r2(a, b).mean + linear_r2(b, a).mean),
        control=value,
        flags=tuple(flags),
    )


def _control(est_a: ContrastiveICA, est_b: ContrastiveICA, X: Any, ways: tuple[Any, ...]) -> float:
    """Agreement of clones of both on shuffled pairs, from different seeds, after as many steps.

    Nothing is held out: there is nothing to be learned, so training would end almost at once.
    """
    # Only the first of several lags: broken pairs have none.
    pairs = est_a.pairs_like_fit(X, *ways)[0]
    with warnings.catch_warnings():
        # Pairs that were broken on purpose give every reason for warnings.
        warnings.simplefilter("ignore", ContrastiveICAWarning)
        first, second = (
            clone(estimator)
            .set_params(
                random_state=seed,
                validation_fraction=0.0,
                max_steps=max(1, estimator.n_iter_),
                n_components=estimator.concentration_.shape[0],
                lag=None,
                window=1,
                refits=0,
                n_init=1,
            )
            .fit(broken.x, broken.x_pos)
            for seed, estimator in enumerate((est_a, est_b))
            for broken in [shuffled(pairs, seed)]
        )
    return consistency(first, second, pairs.x, control=False).agreement


def _as_matrix(embedded: Any) -> Floats:
    """Join sessions, and leave out gaps."""
    rows = np.concatenate(embedded) if isinstance(embedded, list) else np.asarray(embedded)
    found: Floats = rows[~np.isnan(rows).any(axis=1)].astype(np.float64)
    return found


def _agreement(a: Floats, b: Floats, blocks: list[Index]) -> Floats:
    """R² of each column from the other run's block, in both directions; fitted on even rows, read on odd."""
    scores = np.zeros(a.shape[1])
    for block in blocks:
        for target, source in ((a, b), (b, a)):
            scores[block] += 0.5 * _procrustes_r2(target[:, block], source[:, block])
    return scores


def _procrustes_r2(target: Floats, source: Floats) -> Floats:
    centre_t, centre_s = target[::2].mean(axis=0), source[::2].mean(axis=0)
    t, s = target[::2] - centre_t, source[::2] - centre_s
    rotation, stretch = orthogonal_procrustes(s, t)
    # One factor for the block: outside the unit sphere the scale of an embedding is free.
    scale = stretch / max(float((s**2).sum()), np.finfo(np.float64).tiny)
    predicted = scale * (source[1::2] - centre_s) @ rotation + centre_t
    residual = ((target[1::2] - predicted) ** 2).sum(axis=0)
    total = ((target[1::2] - target[1::2].mean(axis=0)) ** 2).sum(axis=0)
    varies = total > 0
    r2: Floats = np.where(varies, 1.0 - residual / np.where(varies, total, 1.0), 0.0)
    return r2
