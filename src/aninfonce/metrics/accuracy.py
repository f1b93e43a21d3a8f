"""Which classes an embedding separates: nearest neighbours and a linear probe."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestNeighbors

from aninfonce._validation import check_choice, check_count, check_number
from aninfonce.metrics._arrays import (
    Array,
    Matrix,
    as_labels,
    as_matrix,
    constant_flags,
    resolution,
    scale_columns,
    standardization,
)
from aninfonce.metrics._result import Result

Labels = Array | Sequence[Any]
# Megabytes of distances held at once, so that many rows never make an N×M matrix.
_MEGABYTES = 64


@dataclass(frozen=True, repr=False)
class Accuracy(Result):
    """Share of test rows whose class was predicted.

    Attributes:
        mean: over all test rows.
        per_class: over the test rows of each class.
        chance: accuracy of always answering with the commonest training class.
        protocol: in words, how the classes were predicted.
        flags: everything unusual about the input, in words; empty if all is well.

    """

    mean: float
    per_class: dict[str, float]
    chance: float
    protocol: str
    flags: tuple[str, ...] = ()

    def __float__(self) -> float:
        return self.mean


def knn_accuracy(
    train_embeddings: Array,
    train_labels: Labels,
    test_embeddings: Array,
    test_labels: Labels,
    *,
    k: int = 5,
    metric: Literal["cosine", "euclidean"] = "cosine",
) -> Accuracy:
    """Accuracy of a vote among the k nearest training rows.

    Example:
        >>> import numpy as np
        >>> train, test = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[2.0, 0.1], [0.3, 5.0]])
        >>> knn_accuracy(train, ["a", "b"], test, ["a", "a"], k=1)
        Accuracy(mean=0.5, per_class={'a': 0.5}, chance=1, protocol='1 nearest neighbours, cosine')

    Args:
        train_embeddings: (N, d) array or tensor.
        train_labels: (N,) classes: numbers or text.
        test_embeddings: (M, d) array or tensor.
        test_labels: (M,) classes.
        k: number of voters. A tie goes to the class that has the nearest voter.
        metric: `"cosine"` similarity (a row of zeros is equally far from all) or `"euclidean"` distance.

    """
    check_choice(metric, "metric", ("cosine", "euclidean"))
    train, test, codes, truth, classes, flags = _prepare(
        train_embeddings, train_labels, test_embeddings, test_labels
    )
    if check_count(k, "k") > len(train):
        raise ValueError(f"`k` must be at most the number of training rows, {len(train)}, got {k}")
    if metric == "cosine":
        zero = int((~train.any(axis=1)).sum() + (~test.any(axis=1)).sum())
        if zero:
            flags.append(f"{zero} row(s) of zeros have no direction")

    nearest = NearestNeighbors(n_neighbors=k, algorithm="brute", metric=metric).fit(train)
    with config_context(working_memory=_MEGABYTES):
        neighbours = nearest.kneighbors(test, return_distance=False)
    # The nearer voter outweighs all behind it, but only by a fraction of a vote: this decides ties alone.
    weight = 1.0 + 0.5 ** np.arange(2, k + 2)
    votes = np.zeros((len(neighbours), len(classes)))
    np.add.at(votes, (np.arange(len(neighbours))[:, None], codes[neighbours]), weight)
    predicted = votes.argmax(axis=1)
    return _accuracy(predicted, codes, truth, classes, f"{k} nearest neighbours, {metric}", flags)


def linear_probe_accuracy(
    train_embeddings: Array,
    train_labels: Labels,
    test_embeddings: Array,
    test_labels: Labels,
    *,
    C: float = 1.0,
    max_iter: int = 1000,
) -> Accuracy:
    """Accuracy of logistic regression on the embedding, standardised by its training rows.

    Example:
        >>> import numpy as np
        >>> z = np.random.default_rng(0).normal(size=(400, 3))
        >>> label = z[:, 0] > 0
        >>> linear_probe_accuracy(z[:200], label[:200], z[200:], label[200:]).mean > 0.95
        True

    Args:
        train_embeddings: (N, d) array or tensor.
        train_labels: (N,) classes: numbers or text.
        test_embeddings: (M, d) array or tensor.
        test_labels: (M,) classes.
        C: inverse strength of the ℓ2 penalty, as in scikit-learn.
        max_iter: limit of L-BFGS iterations; a probe that reaches it is flagged.

    """
    check_number(C, "C", minimum=0.0, exclusive=True)
    check_count(max_iter, "max_iter")
    train, test, codes, truth, classes, flags = _prepare(
        train_embeddings, train_labels, test_embeddings, test_labels
    )
    scaled = scale_columns(np.concatenate([train, test]))
    mean, inverse_scale, constant = standardization(scaled[: len(train)], resolution(train_embeddings))
    flags += constant_flags("embedding dimensions", constant)
    scaled = (scaled - mean) * inverse_scale
    train, test = scaled[: len(train)], scaled[len(train) :]

    if len(np.unique(codes)) == 1:
        predicted = np.full(len(test), codes[0])
    else:
        model = LogisticRegression(C=C, max_iter=max_iter)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(train, codes)
        if int(np.max(model.n_iter_)) >= max_iter:
            flags.append(f"the probe did not converge in {max_iter} iterations")
        predicted = model.predict(test)
    return _accuracy(predicted, codes, truth, classes, "logistic regression", flags)


def _prepare(
    train_embeddings: Array, train_labels: Labels, test_embeddings: Array, test_labels: Labels
) -> tuple[Matrix, Matrix, npt.NDArray[np.intp], npt.NDArray[np.intp], npt.NDArray[Any], list[str]]:
    """Check the input and number the classes."""
    train = as_matrix(train_embeddings, "train_embeddings", squares=True)
    test = as_matrix(
        test_embeddings, "test_embeddings", columns=("train_embeddings", train.shape[1]), squares=True
    )
    known = as_labels(train_labels, "train_labels", rows=("train_embeddings", len(train)))
    asked = as_labels(test_labels, "test_labels", rows=("test_embeddings", len(test)))
    if (known.dtype.kind in "US") != (asked.dtype.kind in "US"):
        raise ValueError(
            f"`test_labels` must be of the kind of `train_labels`, {known.dtype}, got {asked.dtype}"
        )
    classes, codes = np.unique(np.concatenate([known, asked]), return_inverse=True)
    codes, truth = codes[: len(known)], codes[len(known) :]
    flags = []
    if len(np.unique(codes)) == 1:
        flags.append("only one training class")
    unseen = np.setdiff1d(truth, codes)
    if len(unseen):
        flags.append(f"test classes without training rows: {[str(label) for label in classes[unseen]]}")
    return train, test, codes, truth, classes, flags


def _accuracy(
    predicted: npt.NDArray[np.intp],
    train: npt.NDArray[np.intp],
    truth: npt.NDArray[np.intp],
    classes: npt.NDArray[Any],
    protocol: str,
    flags: list[str],
) -> Accuracy:
    correct = predicted == truth
    return Accuracy(
        mean=float(correct.mean()),
        per_class={str(classes[code]): float(correct[truth == code].mean()) for code in np.unique(truth)},
        chance=float((truth == np.bincount(train).argmax()).mean()),
        protocol=protocol,
        flags=tuple(flags),
    )
