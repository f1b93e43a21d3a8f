"""What all findings are about: pairs, embedded once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from aninfonce._seeds import derive_seed, stream
from aninfonce._validation import check_count, check_unmasked, describe
from aninfonce.diagnostics.frame import Frame, fit_frame
from aninfonce.diagnostics.intervals import Interval, Matrix, jackknife
from aninfonce.diagnostics.training_facts import TrainingFacts, run_of
from aninfonce.encoders.embedding import embed_in_chunks, weight_type
from aninfonce.metrics import rankme
from aninfonce.processes import DataGeneratingProcess, PairBatch
from aninfonce.training import Fitted

Rows = Any  # an array or tensor whose first axis counts observations
Augmentations = Mapping[str, Callable[[Any], Any]]

_FEWEST = 200
_CHUNK = 1024
# Lengths that differ by no more than this share of their mean count as equal.
_SAME_LENGTH = 1e-3
# An embedding that spreads by no more than this share of its length is constant, but for rounding.
_CONSTANT = 1e-4


@dataclass(frozen=True)
class Sample:
    """Pairs and what an encoder makes of them.

    Attributes:
        x: observations (N, ...).
        x_pos: their positives (N, ...).
        z: embeddings (N, d) of the observations.
        z_pos: of the positives.
        augmented: embeddings (N, d) of each augmentation of `x`, if there are any.
        changed: those augmentations themselves, (N, ...).
        latents: (N, k), if known.
        labels: (N,), if known.
        run: how the encoder was trained.
        seed: of all that is random.

    """

    x: Rows
    x_pos: Rows
    z: Matrix
    z_pos: Matrix
    augmented: dict[str, Matrix] | None = None
    changed: dict[str, Rows] | None = None
    latents: Matrix | None = None
    labels: npt.NDArray[Any] | None = None
    run: TrainingFacts = field(default_factory=TrainingFacts)
    seed: int = 0

    def __len__(self) -> int:
        return len(self.z)

    @property
    def dim(self) -> int:
        """Columns of the embedding."""
        return int(self.z.shape[1])

    def rng(self, *purpose: str) -> np.random.Generator:
        """Open the random numbers of a purpose."""
        return np.random.default_rng(derive_seed(self.seed, "audit", *purpose))

    @cached_property
    def constant(self) -> bool:
        """Whether all embeddings are one point."""
        spread = np.sqrt(self.z.var(axis=0).sum())
        return bool(spread <= _CONSTANT * np.sqrt((self.z**2).sum(axis=1).mean()))

    @cached_property
    def rank(self) -> tuple[float, Interval]:
        """Effective number of dimensions (RankMe of the centred embedding), with its interval."""
        z = self.z
        if self.constant:
            return 0.0, (0.0, 0.0)
        return jackknife(lambda rows: rankme(z[rows] - z[rows].mean(axis=0)), len(z))

    @cached_property
    def spherical(self) -> bool:
        """Whether all embeddings have one length."""
        length = np.linalg.norm(self.z, axis=1)
        return bool(np.ptp(length) <= _SAME_LENGTH * max(float(length.mean()), np.finfo(np.float64).tiny))

    @cached_property
    def scaled(self) -> tuple[Matrix, Matrix]:
        """Embeddings and positives at length 1: each row on a sphere, on average elsewhere."""
        centre = np.zeros(self.dim) if self.spherical else self.z.mean(axis=0)
        size = np.sqrt(((self.z - centre) ** 2).sum(axis=1).mean()) or 1.0
        return (self.z - centre) / size, (self.z_pos - centre) / size

    @cached_property
    def frame(self) -> Frame | None:
        """The axes along which pairs vary independently, and Λ̂ there; None for a constant embedding."""
        return fit_frame(*self.scaled, seed=derive_seed(self.seed, "audit", "concentration"))


def make_sample(
    encoder: Any,
    data: Any,
    augmentations: Augmentations | None = None,
    latents: Any = None,
    labels: Any = None,
    *,
    max_pairs: int = 4096,
    seed: int = 0,
) -> Sample:
    """Draw pairs from what was given and embed them; `audit` explains the arguments."""
    check_count(max_pairs, "max_pairs", minimum=_FEWEST)
    rng = np.random.default_rng(derive_seed(seed, "audit", "rows"))
    if not isinstance(augmentations, Mapping | None):
        raise ValueError(f"`augmentations` must be a dictionary of functions, got {describe(augmentations)}")
    named = dict(augmentations or {})
    if isinstance(data, DataGeneratingProcess):
        data = data.sample(max_pairs, stream(seed, "audit", "pairs"))
    elif callable(data):
        data = data()
    if isinstance(data, PairBatch):
        latents = data.z if latents is None else latents
        x, x_pos = data.x, data.x_pos
    elif isinstance(data, Sequence) and len(data) == 2 and all(hasattr(part, "shape") for part in data):
        x, x_pos = data
    elif hasattr(data, "shape") and named:
        x, x_pos = data, None
    else:
        raise ValueError(
            "`data` must be pairs (x, x_pos), observations together with `augmentations`, a process, or a"
            f" callable that gives one of these, got {describe(data)}"
        )
    embed = as_embedding(encoder, like=x)
    names, names_pos = (list(getattr(part, "columns", ())) for part in (x, x_pos))
    if names and names_pos and names != names_pos:
        raise ValueError(f"`data` must have the same columns in x and x_pos, got {names} and {names_pos}")
    x, x_pos = _plain(x, "data"), None if x_pos is None else _plain(x_pos, "data")
    if len(x) < _FEWEST or (x_pos is not None and x_pos.shape != x.shape):
        raise ValueError(
            f"`data` must hold at least {_FEWEST} pairs of one shape, got"
            f" {tuple(x.shape)}{'' if x_pos is None else f' and {tuple(x_pos.shape)}'}"
        )
    known = {"latents": latents, "labels": labels}
    for name, values in known.items():
        if values is not None and len(values) != len(x):
            raise ValueError(f"`{name}` must have {len(x)} rows, one per observation, got {len(values)}")
    rows = rng.permutation(len(x))[:max_pairs]
    x = x[rows]
    changed = {name: _checked(f(x), x, f"augmentations[{name!r}]") for name, f in named.items()}
    x_pos = _one_of_each(list(changed.values()), rng) if x_pos is None else x_pos[rows]
    return Sample(
        x=x,
        x_pos=x_pos,
        z=embed(x),
        z_pos=embed(x_pos),
        augmented={name: embed(values) for name, values in changed.items()} or None,
        changed=changed or None,
        latents=None if latents is None else np.asarray(latents, dtype=np.float64)[rows],
        labels=None if labels is None else np.asarray(labels)[rows],
        run=run_of(encoder),
        seed=seed,
    )


def as_embedding(encoder: Any, like: Rows = None) -> Callable[[Rows], Matrix]:
    """Make a function from observations to a float64 matrix of anything that embeds.

    Args:
        encoder: as in `audit`.
        like: the observations as given; an estimator that was fitted on a data frame gets data frames with
            these columns, and so checks their names.

    """
    apply: Callable[[Rows], Any]
    if isinstance(encoder, Fitted):
        return as_embedding(encoder.encoder)
    if hasattr(encoder, "transform"):
        apply = encoder.transform
        if hasattr(encoder, "feature_names_in_") and hasattr(like, "iloc"):

            def apply(rows: Rows) -> Any:
                return encoder.transform(type(like)(rows, columns=like.columns))

    elif isinstance(encoder, nn.Module):

        def apply(rows: Rows) -> Any:
            return embed_in_chunks(encoder, torch.as_tensor(rows).to(weight_type(encoder)))

    elif callable(encoder):
        apply = encoder
    else:
        raise ValueError(f"`encoder` must be a module, function or estimator, got {describe(encoder)}")

    def embed(x: Rows) -> Matrix:
        parts = [_matrix(apply(x[i : i + _CHUNK]), len(x[i : i + _CHUNK])) for i in range(0, len(x), _CHUNK)]
        return np.concatenate(parts)

    return embed


def _plain(rows: Any, name: str) -> Rows:
    """Turn frames into arrays, and leave arrays and tensors as they are."""
    if isinstance(rows, Tensor):
        return rows
    # The memory of a data frame is often read-only, which torch warns about.
    array = rows if isinstance(check_unmasked(rows, name), np.ndarray) else np.array(rows)
    if array.dtype.kind not in "fiub":
        raise ValueError(f"`{name}` must hold numbers, got {array.dtype}")
    return array


def _matrix(value: Any, rows: int) -> Matrix:
    array = value.detach().cpu().double().numpy() if isinstance(value, Tensor) else np.asarray(value)
    if array.ndim != 2 or len(array) != rows or array.dtype.kind not in "fiu":
        raise ValueError(f"`encoder` must give numbers of shape ({rows}, d), got {describe(value)}")
    if not np.isfinite(array).all():
        raise ValueError("`encoder` must give finite numbers, got NaN or infinity")
    return array.astype(np.float64)


def _checked(changed: Any, x: Rows, name: str) -> Rows:
    if getattr(changed, "shape", None) != x.shape:
        raise ValueError(f"`{name}` must keep the shape {tuple(x.shape)}, got {describe(changed)}")
    return _plain(changed, name)


def _one_of_each(versions: list[Rows], rng: np.random.Generator) -> Rows:
    """Change every row by one augmentation, drawn at random."""
    mixed = versions[0].clone() if isinstance(versions[0], Tensor) else np.array(versions[0])
    which = rng.integers(len(versions), size=len(mixed))
    for index, version in enumerate(versions[1:], start=1):
        mixed[which == index] = version[which == index]
    return mixed
