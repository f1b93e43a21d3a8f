"""Views of several kinds, which share some of their augmentations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aninfonce._seeds import stream
from aninfonce.augment.base import Augmentation, Parameters
from aninfonce.augment.views import ViewSource

# Of SimCLR: all differs between the two views, only shape and blur, or only colour.
SIMCLR_GROUPS: tuple[tuple[str, ...], ...] = ((), ("jitter", "grey"), ("crop", "flip", "blur"))


class GroupedViews(ViewSource):
    """Two views of each image that share a group of augmentations: row i shares group i mod k.

    What a pair shares is still drawn anew for each pair, so that an embedding of that kind of pairs has to
    keep it. `AlternatingLoss` contrasts each kind with itself, with a Λ̂ of its own.

    Example:
        >>> import torch
        >>> from aninfonce.augment import simclr
        >>> views = GroupedViews(torch.rand(9, 3, 8, 8), simclr("cifar10"), seed=0).views(9)
        >>> (views.parameters["crop.box"] == views.parameters_pos["crop.box"]).flatten(1).all(dim=1)
        tensor([False, False,  True, False, False,  True, False, False,  True])

    Args:
        images: as `ViewSource` takes them.
        augmentation: made of steps with names.
        seed: of the order and of the views.
        shared: for each kind of pairs, the names of the steps that both views share.
        **options: as in `ViewSource`.

    """

    def __init__(
        self,
        images: Any,
        augmentation: Augmentation,
        seed: int = 0,
        *,
        shared: Sequence[Sequence[str]] = SIMCLR_GROUPS,
        **options: Any,
    ) -> None:
        super().__init__(images, augmentation, seed, **options)
        self.shared = shared
        # Whole turns, so that kinds take turns across the chunks of an evaluation too.
        self._chunk -= self._chunk % max(1, len(shared))
        drawn = augmentation.draw((1, *images.shape[1:]), stream(0, "names of parameters"))
        known = sorted({_step(name) for name in drawn})
        unknown = sorted({name for names in shared for name in names} - set(known))
        if unknown:
            raise ValueError(f"`shared` must name steps of the augmentation, {known}, got {unknown}")

    def tie(self, first: Parameters, second: Parameters) -> Parameters:
        """Give the second views what the kind of each pair shares; kinds take turns in every process."""
        tied = {name: values.clone() for name, values in second.items()}
        for kind, names in enumerate(self.shared):
            rows = slice(kind, None, len(self.shared))
            for name in tied:
                if _step(name) in names:
                    tied[name][rows] = first[name][rows]
        return tied


def _step(parameter: str) -> str:
    return parameter.split(".")[0]
