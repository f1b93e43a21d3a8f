"""What is fitted can be kept: methods that write an estimator to disk and read it back."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted
from torch import nn


class Keeping:
    """`save`, `load` and pickling of an estimator."""

    def save(self, path: str | Path) -> Path:
        """Write the fitted estimator as a folder of safetensors and JSON; see `load`.

        Args:
            path: of the folder; one that holds something other than a saved estimator is refused.

        Returns:
            The path.

        """
        from aninfonce.estimator.contrastive_ica import ContrastiveICA
        from aninfonce.estimator.storage import save_estimator

        assert isinstance(self, ContrastiveICA)
        check_is_fitted(self)
        return save_estimator(self, Path(path))

    @classmethod
    def load(cls, path: str | Path, *, device: str = "cpu", encoder: nn.Module | None = None) -> Self:
        """Read a saved estimator; nothing in the files is executed.

        Args:
            path: of the folder.
            device: where the encoder is put, whatever device it was trained on.
            encoder: a module of the kind that was trained, if that was one of your own: its weights are read
                from the folder, its code cannot be.

        Returns:
            The fitted estimator.

        """
        from aninfonce.estimator.contrastive_ica import ContrastiveICA
        from aninfonce.estimator.storage import load_estimator, usable_device

        assert issubclass(cls, ContrastiveICA)
        estimator = load_estimator(cls, Path(path), usable_device(device), encoder)
        assert isinstance(estimator, cls)
        return estimator

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the augmentation: functions often cannot be pickled, and `score` can be given one."""
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        if state.get("_augment") is not None:
            state = {**state, "_augment": None}
        return state
