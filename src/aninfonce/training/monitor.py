"""What is measured during training, on held-out pairs. Nothing here influences the weights."""

from __future__ import annotations

import math
import warnings
from typing import Any

import torch
from torch import Tensor, nn

from aninfonce._seeds import derive_seed
from aninfonce.distributions import Uniform
from aninfonce.encoders.embedding import embed_in_chunks
from aninfonce.losses import AnInfoNCE, InfoNCE
from aninfonce.losses.blockwise import mean_over_blocks
from aninfonce.metrics import linear_r2, rankme
from aninfonce.processes import DataGeneratingProcess, PairBatch
from aninfonce.sources.as_source import as_source
from aninfonce.sources.base import PairSource
from aninfonce.spaces import Sphere
from aninfonce.training.config import TrainingConfig

Row = dict[str, Any]

# What an evaluation's loss is called, depending on whether its pairs are held out or trained on.
HELD_OUT_LOSS, SEEN_LOSS = "held_out_loss", "training_pairs_loss"
# Pairs that are each other's negatives on the held-out pairs, whatever the batch size of the steps.
HELD_OUT_BLOCK = 1024
# The effective rank may fall to this share of its best before a collapse is reported.
_COLLAPSE = 0.5


class Monitor:
    """Evaluates an encoder and a loss on a fixed set of pairs.

    Args:
        pairs: with latents if they are known.
        process: that they were drawn from, if there is one.
        held_out: whether these pairs are kept out of training; decides what their loss is called.

    """

    def __init__(
        self, pairs: PairBatch, process: DataGeneratingProcess | None = None, *, held_out: bool = True
    ) -> None:
        self.pairs = pairs
        self.held_out = held_out
        self.block = min(HELD_OUT_BLOCK, len(pairs))
        self.partitions = None if process is None else process.partitions()
        self.optimum = _optimum(process, pairs, self.block)
        self._best_rank = 0.0
        self._warned = False

    def measure(self, encoder: nn.Module, loss: nn.Module) -> Row:
        """Score the current encoder; warn once if its effective rank has fallen far."""
        device = next(encoder.parameters()).device
        z = embed_in_chunks(encoder, self.pairs.x.to(device))
        z_pos = embed_in_chunks(encoder, self.pairs.x_pos.to(device))
        if not bool(torch.isfinite(z.sum() + z_pos.sum())):
            return {}
        value = mean_over_blocks(loss, z, z_pos, block=self.block)
        row: Row = {HELD_OUT_LOSS if self.held_out else SEEN_LOSS: value}
        if self.optimum is not None and _counts_forward(loss):
            row |= {"optimal_loss": self.optimum, "gap": value - self.optimum}
        if self.pairs.z is not None:
            score = linear_r2(self.pairs.z, z, partitions=self.partitions)
            row["r2"] = score.mean
            row["r2_per_latent"] = list(score.per_dimension)
            if len(score.per_partition) <= 3:
                row |= {f"r2_{name}": value for name, value in score.per_partition.items() if name != "all"}
        row["rank"] = rankme(z - z.mean(dim=0))
        self._watch_rank(row["rank"])
        return row

    def _watch_rank(self, rank: float) -> None:
        self._best_rank = max(self._best_rank, rank)
        if rank < _COLLAPSE * self._best_rank and not self._warned:
            self._warned = True
            warnings.warn(
                f"the embedding collapses: its effective rank fell to {rank:.1f} from {self._best_rank:.1f};"
                " lower the rates, or check whether the two views of a pair share enough",
                stacklevel=2,
            )


def open_monitor(source: PairSource, config: TrainingConfig, given: Any = None) -> Monitor:
    """Set pairs of a source aside to evaluate on, or use other pairs for it.

    Args:
        source: of the run, before its first step.
        config: says how many.
        given: other pairs, as `as_source` takes them; then nothing is set aside.

    Returns:
        The monitor. If nothing can be held out, it looks at pairs that are trained on, and a warning says so.

    """
    most = config.evaluation_pairs
    if given is not None:
        return Monitor(as_source(given, derive_seed(config.seed, "given")).fresh(most), source.process)
    aside = source.set_aside(config.held_out, most, config.recipe.largest_batch)
    if aside is not None:
        return Monitor(aside, source.process)
    if config.held_out and config.evaluate_every:
        warnings.warn(
            "no pairs are held out, so evaluations use training pairs: there are too few, or they"
            " come from an iterable that cannot be split; pass `held_out=` to `fit`, or set `held_out: 0`",
            stacklevel=3,
        )
    return Monitor(source.fresh(most), source.process, held_out=False)


def _counts_forward(loss: nn.Module) -> bool:
    """Whether the loss uses the negatives that the optimum is computed for."""
    return isinstance(loss, InfoNCE) and loss.candidates == "anchors" and not loss.symmetric


def concentration_of(loss: nn.Module) -> Tensor | None:
    """Read Λ̂ (d,) off a loss, if it has one."""
    return loss.concentration.detach() if isinstance(loss, AnInfoNCE) else None


def _optimum(process: DataGeneratingProcess | None, pairs: PairBatch, block: int) -> float | None:
    """Loss of the truth on the same pairs, where the truth is uniform on the sphere with a known Λ.

    On the same pairs, the difference between model and truth has far less noise than either loss.
    """
    if (
        process is None
        or process.concentration is None
        or process.negatives is not None
        or not (isinstance(process.space, Sphere) and isinstance(process.marginal, Uniform))
        or pairs.z is None
        or pairs.z_pos is None
        or not bool((process.concentration > 0).all())
    ):
        return None
    truth = AnInfoNCE(process.dim, initial=process.concentration.clone(), normalize=False)
    value = mean_over_blocks(truth, pairs.z, pairs.z_pos, block=block)
    return value if math.isfinite(value) else None
