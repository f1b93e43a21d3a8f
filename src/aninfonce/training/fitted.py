"""What a training run gives back."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from torch import Tensor, nn

from aninfonce.alignment.folding import FoldingCheck
from aninfonce.alignment.space_choice import SpaceChoice
from aninfonce.encoders.embedding import Embedding, embed_in_chunks
from aninfonce.sources.base import rows_as_floats
from aninfonce.training.config import TrainingConfig
from aninfonce.training.monitor import Row


@dataclass(frozen=True)
class Fitted:
    """A trained encoder and what is known about it.

    Attributes:
        encoder: from observations to the finished embedding (N, d); call it like any module.
        loss: the loss module as it ended.
        concentration: Λ̂ (d,) in the order of the embedding's columns, if the loss has one.
        folding: the label-free check, if the recipe's closing fits ran on the sphere.
        history: one row for each logged step.
        config: all settings, complete.
        step: steps taken.
        seconds: wall time of all of them, closing fits included.
        profile: seconds by part of the loop.
        choice: where the latents were found to live, and why, if the space was "auto" and is decided.

    """

    encoder: Embedding
    loss: nn.Module
    concentration: Tensor | None
    folding: FoldingCheck | None
    history: list[Row]
    config: TrainingConfig
    step: int
    seconds: float
    profile: dict[str, float] = field(default_factory=dict)
    choice: SpaceChoice | None = None

    @property
    def folded(self) -> bool | None:
        """Whether a sign seems lost; None if it was not checked."""
        return None if self.folding is None else self.folding.folded

    def embed(self, x: Tensor | npt.NDArray[np.floating]) -> Tensor:
        """Embed observations (N, ...) in pieces, without gradients.

        Args:
            x: array or tensor.

        Returns:
            (N, d) on the CPU.

        """
        parameter = next(self.encoder.parameters())
        inputs = rows_as_floats(x, "x").to(parameter)
        return embed_in_chunks(self.encoder, inputs).cpu()
