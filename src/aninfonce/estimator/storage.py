"""A fitted estimator on disk: the folder of a checkpoint, so that `aninfonce embed` reads it too."""

from __future__ import annotations

import copy
import platform
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted
from torch import nn

from aninfonce._validation import describe
from aninfonce.diagnostics import shared_blocks
from aninfonce.encoders.embedding import WithLinear
from aninfonce.estimator.choosing import ChoiceCurve, NonlinearGain
from aninfonce.estimator.moving import pack_moving, unpack_moving
from aninfonce.training.checkpoints import CheckpointError, Snapshot, read_snapshot, write_snapshot
from aninfonce.training.packing import load_fitted

if TYPE_CHECKING:
    from aninfonce.estimator.contrastive_ica import ContrastiveICA

_CURVES = ("loss_curve_", "loss_steps_", "held_out_curve_", "held_out_steps_")
_NUMBERS = ("concentrations_", "concentrations_interval_", "refit_agreement_", "decay_times_", *_CURVES)
_PLAIN = ("folded_", "n_iter_", "best_step_", "n_features_in_", "lags_", "space_", "start_residual_")
_BLOCKS = ("blocks_", "separated_")
_CHOICES = ("n_components_curve_", "lag_curve_")


class Storage:
    """`save`, `load` and pickling of an estimator."""

    def save(self: ContrastiveICA, path: str | Path) -> Path:  # type: ignore[misc]
        """Write the fitted estimator as a folder of safetensors and JSON; see `load`.

        An earlier save in the same place is replaced whole. Parameters that a search set to numpy's numbers
        are saved, and loaded, as Python's.

        Args:
            path: of the folder; one that holds something other than a saved estimator is refused.

        Returns:
            The path.

        """
        check_is_fitted(self)
        path = Path(path)
        if path.exists() and not _is_ours(path):
            raise ValueError(
                f"`path` must be new, empty or a saved estimator, got {path} with something else in it"
            )
        tensors = {f"encoder.{name}": t for name, t in self.encoder_.state_dict().items()}
        tensors |= {f"loss.{name}": t for name, t in self.loss_.state_dict().items()}
        parameters = dict(self.get_params(deep=False))
        if isinstance(parameters["random_state"], np.random.RandomState):
            parameters["random_state"] = None
        parameters["device"] = str(parameters["device"])
        if isinstance(parameters["encoder"], nn.Module):
            # Its weights are kept, its code cannot be: `load` takes the module.
            parameters["encoder"] = None
        names = getattr(self, "feature_names_in_", None)
        facts: dict[str, Any] = {
            "versions": {
                "aninfonce": version("aninfonce"),
                "torch": torch.__version__,
                "python": platform.python_version(),
            },
            "config": self.config_.model_dump(mode="json"),
            "step": self.n_iter_,
            "spherical": self.config_.space != "auto" or self.space_ == "sphere",
            "choice": None if self.space_evidence_ is None else asdict(self.space_evidence_),
            "closed": True,
            "appended_linear": isinstance(self.encoder_.body, WithLinear),
            "seconds": 0.0,
            "folding": None,
            "history": [],
            "estimator": {
                "parameters": parameters,
                "feature_names_in_": None if names is None else [str(name) for name in names],
                **{name: [block.tolist() for block in getattr(self, name)] for name in _BLOCKS},
                **{name: _packed(getattr(self, name)) for name in _CHOICES},
                "nonlinear_gain_": self.nonlinear_gain_,
                "moving": pack_moving(self),
                "row_shape": list(self._row_shape),
                "window": self._window,
                **{name: getattr(self, name).tolist() for name in _NUMBERS},
                **{name: getattr(self, name) for name in _PLAIN},
            },
        }
        return write_snapshot(path, Snapshot(tensors, facts))

    @classmethod
    def load(cls, path: str | Path, *, device: str = "cpu", encoder: nn.Module | None = None) -> Self:
        """Read a saved estimator; nothing in the files is executed.

        Args:
            path: of the folder.
            device: where the encoder is put, whatever device it was trained on.
            encoder: a module of the kind that was trained, if that was one of your own: its weights are read
                from the folder, its code cannot be.

        Returns:
            The fitted estimator. A `CheckpointError` (a `ValueError`) says what is wrong with a folder.

        """
        path, place = Path(path), usable_device(device)
        facts = read_snapshot(path).facts.get("estimator")
        if facts is None:
            raise CheckpointError(
                f"{path} is a checkpoint of a training run, not an estimator: use load_fitted"
            )
        own = facts["parameters"]["encoder"] is None
        if own != (encoder is not None):
            raise ValueError(
                "`encoder` must be a module of the kind that was trained, and only if that was one of your"
                f" own, got {'None' if encoder is None else type(encoder).__name__}"
            )
        fitted = load_fitted(path, encoder=copy.deepcopy(encoder))
        estimator: Any = cls(**{**facts["parameters"], **({"encoder": encoder} if own else {})})
        estimator.encoder_, estimator.loss_ = fitted.encoder.to(place), fitted.loss.to(place)
        estimator.config_, estimator.space_evidence_ = fitted.config, fitted.choice
        facts = _completed(facts, fitted.config.space)
        for name in _PLAIN:
            setattr(estimator, name, facts[name])
        for name in _NUMBERS:
            setattr(estimator, name, np.asarray(facts[name]))
        estimator.lags_ = tuple(estimator.lags_)
        for name in _BLOCKS:
            setattr(estimator, name, [np.array(block, dtype=np.intp) for block in facts[name]])
        gain = facts["nonlinear_gain_"]
        estimator.nonlinear_gain_ = None if gain is None else NonlinearGain(*gain)
        estimator.modes_, estimator.dynamics_gain_, estimator.mode_shares_ = unpack_moving(
            facts.get("moving")
        )
        for name in _CHOICES:
            setattr(estimator, name, _unpacked(facts[name]))
        if facts["feature_names_in_"] is not None:
            estimator.feature_names_in_ = np.array(facts["feature_names_in_"], dtype=object)
        estimator._n_features_out = fitted.config.dim
        estimator._augment, estimator._optimizer_states = None, []
        # Earlier versions saved only the number of channels of pictures.
        estimator._row_shape = tuple(facts.get("row_shape", [estimator.n_features_in_]))
        estimator._window = facts.get("window", int(estimator.window))
        loaded: Self = estimator
        return loaded

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the augmentation: functions often cannot be pickled, and `score` can be given one."""
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        if state.get("_augment") is not None:
            state = {**state, "_augment": None}
        return state


def usable_device(device: str | torch.device) -> torch.device:
    """Open a device, or refuse it by name where this machine has none of the kind."""
    try:
        found = torch.device(device)
        torch.empty(0, device=found)
    except (RuntimeError, AssertionError, TypeError) as problem:
        reason = str(problem).splitlines()[0]
        raise ValueError(
            f"`device` must be one that torch has here, got {describe(device)}: {reason}"
        ) from None
    return found


def _completed(facts: dict[str, Any], space: str) -> dict[str, Any]:
    """Complete what earlier versions saved, and give it the names of this one."""
    # Times followed from Λ̂.
    facts = {"decay_times_": [], **facts}
    if "concentrations_" in facts:
        return facts
    interval = facts["concentration_interval_"]
    blocks = [block.tolist() for block in shared_blocks(np.asarray(interval))]
    return {
        # Embeddings are where they were asked to be, and have the last weights.
        "space_": space,
        "best_step_": facts["n_iter_"],
        "blocks_": blocks,
        "separated_": [],
        "refit_agreement_": [],
        "concentrations_": [facts["concentration_"]],
        "concentrations_interval_": [interval],
        "lags_": [] if facts["lag_"] is None else [facts["lag_"]],
        **{name: [] for name in _CURVES},
        **dict.fromkeys((*_CHOICES, "nonlinear_gain_", "start_residual_")),
        **facts,
    }


def _packed(curve: ChoiceCurve | None) -> dict[str, Any] | None:
    if curve is None:
        return None
    return {name: np.asarray(value).tolist() for name, value in curve._asdict().items()}


def _unpacked(facts: dict[str, Any] | None) -> ChoiceCurve | None:
    if facts is None:
        return None
    arrays = {name: np.asarray(facts[name]) for name in ("candidates", "scores", "errors")}
    return ChoiceCurve(**arrays, chosen=facts["chosen"])


def _is_ours(path: Path) -> bool:
    """Whether a path may be replaced: an empty folder, or what was saved before."""
    if not path.is_dir():
        return False
    names = {entry.name for entry in path.iterdir()}
    return names <= {"state.json", "tensors.safetensors"}
