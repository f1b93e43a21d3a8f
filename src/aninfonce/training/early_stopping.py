"""Early stopping: keep the weights with the best held-out score, and end a phase that no longer helps.

Running means of the weights are scored and kept. The rates of a run that is ended early never fall to zero;
the mean over its last steps has the effect that small rates would have had. On five sources mixed to twelve
channels it raises R² from .974 to .982 (30 000 rows) and from .929 to .956 (6000 rows, where the last layer
also sees the inputs).
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from aninfonce._validation import check_count
from aninfonce.encoders.embedding import Embedding
from aninfonce.recipe import Recipe

if TYPE_CHECKING:
    from aninfonce.training.loop import Trainer

# Evaluations come every 5 steps at first, then every 5 % of the steps taken so far, and never further apart
# than a hundredth of the run: few pairs are learned by heart within fifty steps, however long the run.
_CLOSEST, _SHARE_TAKEN, _IN_A_RUN = 5, 20, 100
# Weight of the past in the running mean: fifty steps, or a fifth of those taken if that is less.
_PAST, _PAST_SHARE = 0.98, 5


class EarlyStopping:
    """Looks at a held-out score during training and remembers the averaged weights at their best.

    A run that starts in flat space has two phases. The first ends with its best weights; these are mapped to
    the sphere, and the search for the best starts again, for the scores of the two cannot be compared. If the
    score has stopped rising, the first phase ends early. The second is then shortened in proportion, so that
    the rates still fall to zero.

    Everything is kept in memory: a run with checkpoints has no use for it.

    Args:
        score: of an encoder and a loss on held-out pairs; higher is better.
        patience: evaluations without a new best before a phase ends; None for never.

    Attributes:
        steps: of the evaluations.
        scores: at these steps.
        best_step: the last step that the best weights have seen.
        best_score: of these, in the phase that training is in.

    """

    def __init__(self, score: Callable[[Embedding, nn.Module], float], patience: int | None = 20) -> None:
        self.score = score
        self.patience = None if patience is None else check_count(patience, "patience")
        self.steps: list[int] = []
        self.scores: list[float] = []
        self.best_step = 0
        self._best: dict[str, Any] | None = None
        self.best_score = -float("inf")
        self._since_best = 0
        self._next = _CLOSEST
        self._mean: nn.ModuleList | None = None
        self._steps_of_phase = 0

    def ends_phase(self, trainer: Trainer) -> bool:
        """Add a step to the running mean, evaluate if it is due, and tell whether patience has run out."""
        self._average(trainer)
        if trainer.step < min(self._next, trainer.recipe.steps):
            return False
        self._look(trainer, trainer.step)
        return self.patience is not None and self._since_best >= self.patience

    def start_phase(self, trainer: Trainer) -> None:
        """Forget the best of the phase before; the weights as they are now are the first candidate."""
        self.best_score, self._since_best = -float("inf"), 0
        self._mean, self._steps_of_phase = None, 0
        self._look(trainer, self.best_step)

    def restore(self, trainer: Trainer) -> None:
        """Bring back the best weights of this phase, and the optimisers' memory of that step."""
        if self._best is None:
            return
        trainer.embedding.load_state_dict(self._best["embedding"])
        trainer.loss.load_state_dict(self._best["loss"])
        for optimizer, state in zip(trainer.optimizers, self._best["optimizers"], strict=True):
            optimizer.load_state_dict(state)

    @torch.no_grad()
    def _average(self, trainer: Trainer) -> None:
        self._steps_of_phase += 1
        if self._mean is None:
            self._mean = copy.deepcopy(nn.ModuleList([trainer.embedding, trainer.loss]))
            return
        past = min(_PAST, 1.0 - 1.0 / (1.0 + self._steps_of_phase / _PAST_SHARE))
        means: list[Tensor] = list(self._mean.parameters())
        newest: list[Tensor] = [*trainer.embedding.parameters(), *trainer.loss.parameters()]
        torch._foreach_lerp_(means, newest, 1.0 - past)
        # Running moments of normalisation are means already.
        buffers = [*trainer.embedding.buffers(), *trainer.loss.buffers()]
        for mean, buffer in zip(self._mean.buffers(), buffers, strict=True):
            mean.copy_(buffer)

    def _look(self, trainer: Trainer, weights_of: int) -> None:
        embedding, loss = (trainer.embedding, trainer.loss) if self._mean is None else self._mean
        assert isinstance(embedding, Embedding)
        with trainer.watch("evaluation"):
            value = self.score(embedding, loss)
        self.steps.append(trainer.step)
        self.scores.append(value)
        self._next = trainer.step + _interval(trainer.step, trainer.recipe)
        self._since_best += 1
        if value > self.best_score:
            self.best_score, self._since_best, self.best_step = value, 0, weights_of
            self._best = copy.deepcopy(
                {
                    "embedding": embedding.state_dict(),
                    "loss": loss.state_dict(),
                    "optimizers": [optimizer.state_dict() for optimizer in trainer.optimizers],
                }
            )


def _interval(step: int, recipe: Recipe) -> int:
    return max(_CLOSEST, min(step // _SHARE_TAKEN, recipe.steps // _IN_A_RUN))
