"""What is measured on held-out pairs while training runs. It only looks: no number here changes a weight."""

from __future__ import annotations

import math
import warnings
from typing import Any

import torch
from torch import Tensor, nn

from aninfonce.distributions import Uniform
from aninfonce.losses import AnInfoNCE, InfoNCE
from aninfonce.metrics import linear_r2, rankme
from aninfonce.processes import DataGeneratingProcess, PairBatch
from aninfonce.spaces import Sphere
from aninfonce.training.source import PairSource
from aninfonce.training.unfold import embed_in_chunks

Row = dict[str, Any]

# Pairs that are each other's negatives on the held-out pairs, whatever the batch size of the steps.
HELD_OUT_BLOCK = 1024
# The effective rank may fall to this share of its best before a collapse is reported.
_COLLAPSE = 0.5


class Monitor:
    """Measures an encoder and a loss on the same held-out pairs again and again.

    Args:
        source: gives the pairs, with latents if they are known.
        pairs: how many.

    """

    def __init__(self, source: PairSource, pairs: int) -> None:
        self.pairs: PairBatch = source.fresh(pairs)
        self.block = min(HELD_OUT_BLOCK, len(self.pairs))
        self.partitions = None if source.process is None else source.process.partitions()
        self.optimum = _optimum(source.process, self.pairs, self.block)
        self._best_rank = 0.0
        self._warned = False

    def measure(self, encoder: nn.Module, loss: nn.Module) -> Row:
        """Score the current encoder; warn once if its effective rank has fallen far."""
        device = next(encoder.parameters()).device
        z = embed_in_chunks(encoder, self.pairs.x.to(device))
        z_pos = embed_in_chunks(encoder, self.pairs.x_pos.to(device))
        if not bool(torch.isfinite(z.sum() + z_pos.sum())):
            return {}
        row: Row = {"held_out_loss": _blockwise(loss, z, z_pos, self.block)}
        if self.optimum is not None and _counts_forward(loss):
            row |= {"optimal_loss": self.optimum, "gap": row["held_out_loss"] - self.optimum}
        if self.pairs.z is not None:
            score = linear_r2(self.pairs.z, z, partitions=self.partitions)
            row["r2"] = score.mean
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
                " lower the rates, or see whether pairs share enough",
                stacklevel=2,
            )


def _counts_forward(loss: nn.Module) -> bool:
    """Whether the loss has the negatives that the optimum is computed for."""
    return isinstance(loss, InfoNCE) and loss.candidates == "anchors" and not loss.symmetric


def concentration_of(loss: nn.Module) -> Tensor | None:
    """Read Λ̂ (d,) off a loss, if it has one."""
    return loss.concentration.detach() if isinstance(loss, AnInfoNCE) else None


@torch.no_grad()
def _blockwise(loss: nn.Module, z: Tensor, z_pos: Tensor, block: int) -> float:
    """Mean loss over whole blocks of pairs."""
    starts = range(0, len(z) - block + 1, block)
    return sum(float(loss(z[i : i + block], z_pos[i : i + block])) for i in starts) / len(starts)


def _optimum(process: DataGeneratingProcess | None, pairs: PairBatch, block: int) -> float | None:
    """Loss of the truth on the same pairs, where the truth is uniform on the sphere with a known Λ.

    On the same pairs, the difference of model and truth is known far better than either loss.
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
    value = _blockwise(truth, pairs.z, pairs.z_pos, block)
    return value if math.isfinite(value) else None
