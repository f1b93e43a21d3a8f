"""From a running trainer to tensors and JSON, and back.

`pack_state` and `unpack_state` do this for what any resumable run has; `pack` and `unpack` add what is the
trainer's own.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Generator, Tensor, nn
from torch.optim import Optimizer

from aninfonce._seeds import stream
from aninfonce.alignment.folding import FoldingCheck
from aninfonce.alignment.space_choice import SpaceChoice
from aninfonce.encoders import SphereHead
from aninfonce.encoders.embedding import Embedding, WithLinear, identity_linear
from aninfonce.encoders.whitening import Whitening
from aninfonce.training.checkpoints import CheckpointError, Snapshot, newest_snapshot
from aninfonce.training.config import TrainingConfig, stored_config
from aninfonce.training.fitted import Fitted
from aninfonce.training.model import build_embedding, build_loss
from aninfonce.training.monitor import concentration_of
from aninfonce.training.run_folder import check_settings

if TYPE_CHECKING:
    from aninfonce.training.loop import Trainer


def pack_state(
    modules: Mapping[str, nn.Module], optimizers: Sequence[Optimizer], generators: Mapping[str, Generator]
) -> Snapshot:
    """Collect the weights, optimisers and random numbers that a run needs to go on bit for bit.

    >>> net = nn.Linear(2, 1)
    >>> adam = torch.optim.Adam(net.parameters())
    >>> snapshot = pack_state({"net": net}, [adam], {"noise": Generator()})
    >>> sorted(snapshot.tensors)
    ['net.bias', 'net.weight', 'random.noise']
    >>> unpack_state(snapshot, {"net": net}, [adam], {"noise": Generator()})
    """
    tensors = {f"{kind}.{name}": t for kind, m in modules.items() for name, t in m.state_dict().items()}
    tensors |= {f"random.{name}": generator.get_state() for name, generator in generators.items()}
    groups = []
    for index, optimizer in enumerate(optimizers):
        state, options = _pack_optimizer(optimizer)
        tensors |= {f"optimizer.{index}.{name}": t for name, t in state.items()}
        groups.append(options)
    return Snapshot(tensors, {"optimizers": groups})


def unpack_state(
    snapshot: Snapshot,
    modules: Mapping[str, nn.Module],
    optimizers: Sequence[Optimizer],
    generators: Mapping[str, Generator],
) -> None:
    """Bring freshly built parts, in place, to the state in which `pack_state` found them."""
    for kind, module in modules.items():
        _load(module, snapshot, f"{kind}.")
    for name, generator in generators.items():
        generator.set_state(snapshot.tensors[f"random.{name}"])
    for index, (optimizer, options) in enumerate(zip(optimizers, snapshot.facts["optimizers"], strict=True)):
        _unpack_optimizer(optimizer, _under(snapshot, f"optimizer.{index}."), options)


def pack(trainer: Trainer) -> Snapshot:
    """Collect everything that a resumed run needs."""
    state = pack_state(*_resumed(trainer))
    tensors = state.tensors | {f"source.{name}": t for name, t in trainer.source.state().items()}
    tensors["random.torch"] = torch.get_rng_state()
    if torch.cuda.is_available():
        tensors["random.cuda"] = torch.cuda.get_rng_state()
    facts = {
        "versions": {
            "aninfonce": version("aninfonce"),
            "torch": torch.__version__,
            "python": platform.python_version(),
        },
        "config": trainer.config.model_dump(mode="json"),
        "step": trainer.step,
        "spherical": trainer.spherical,
        "closed": trainer.closed,
        "appended_linear": trainer.appended_linear,
        "running_loss": trainer.running_loss,
        "seconds": trainer.seconds,
        "folding": None if trainer.folding is None else asdict(trainer.folding),
        "choice": None if trainer.choice is None else asdict(trainer.choice),
        "history": trainer.history,
        **state.facts,
    }
    return Snapshot(tensors, facts)


def unpack(snapshot: Snapshot, trainer: Trainer) -> None:
    """Bring a freshly built trainer to the state of a snapshot."""
    facts = snapshot.facts
    check_settings(facts["config"], trainer.config, "the checkpoint")
    if facts["spherical"] and trainer.config.unfolds:
        trainer.embedding.head = SphereHead()
    unpack_state(snapshot, *_resumed(trainer))
    trainer.source.restore(_under(snapshot, "source."))
    torch.set_rng_state(snapshot.tensors["random.torch"])
    if torch.cuda.is_available() and "random.cuda" in snapshot.tensors:
        torch.cuda.set_rng_state(snapshot.tensors["random.cuda"])
    trainer.step = int(facts["step"])
    trainer.spherical = bool(facts["spherical"])
    trainer.closed = bool(facts["closed"])
    trainer.running_loss = facts["running_loss"]
    trainer.folding = None if facts["folding"] is None else FoldingCheck(**facts["folding"])
    trainer.choice = _choice(facts)
    trainer.history = list(facts["history"])


def _resumed(trainer: Trainer) -> tuple[dict[str, nn.Module], list[Optimizer], dict[str, Generator]]:
    modules = {"encoder": trainer.embedding, "loss": trainer.loss}
    return modules, trainer.optimizers, {"closing": trainer.closing_generator}


def load_fitted(
    path: str | Path, *, encoder: nn.Module | None = None, loss: nn.Module | None = None
) -> Fitted:
    """Read a trained encoder, on the CPU.

    Args:
        path: a run's directory (the newest checkpoint is taken) or one checkpoint.
        encoder: the module that was trained, if it was one of your own.
        loss: likewise.

    Returns:
        The result as `fit` returned it; for an unfinished run, the state of its last checkpoint.

    """
    found = newest_snapshot(Path(path))
    if found is None:
        raise CheckpointError(f"{path} holds no checkpoint")
    snapshot = found[1]
    facts = snapshot.facts
    config = stored_config(facts["config"], source=str(found[0]))
    embedding = _bare_embedding(config, snapshot, encoder)
    _load(embedding, snapshot, "encoder.")
    assert config.dim is not None
    module = loss if loss is not None else build_loss(config.loss, config.dim, stream(0, "overwritten"))
    _load(module, snapshot, "loss.")
    concentration = concentration_of(module)
    return Fitted(
        encoder=embedding.eval(),
        loss=module.eval(),
        concentration=None if concentration is None else concentration.clone(),
        folding=None if facts["folding"] is None else FoldingCheck(**facts["folding"]),
        choice=_choice(facts),
        history=list(facts["history"]),
        config=config,
        step=int(facts["step"]),
        seconds=float(facts["seconds"]),
    )


def _bare_embedding(config: TrainingConfig, snapshot: Snapshot, encoder: nn.Module | None) -> Embedding:
    """Build the encoder as it was when the snapshot was taken, with weights that are not yet its own."""
    embedding = build_embedding(config, stream(0, "overwritten"), encoder)
    if config.recipe.whiten:
        embedding.inputs = Whitening(len(snapshot.tensors["encoder.inputs.mean"]))
    if snapshot.facts["appended_linear"]:
        assert config.dim is not None
        embedding.body = WithLinear(embedding.body, identity_linear(config.dim))
    if not snapshot.facts["spherical"]:
        embedding.head = nn.Identity()
    return embedding


def _choice(facts: dict[str, Any]) -> SpaceChoice | None:
    """Read which space was chosen, if any; checkpoints of early versions have no such entry."""
    found = facts.get("choice")
    if found is None:
        return None
    return SpaceChoice(**{**found, "sixth_moments": tuple(found.get("sixth_moments", ()))})


def _under(snapshot: Snapshot, prefix: str) -> dict[str, Tensor]:
    return {
        name.removeprefix(prefix): tensor
        for name, tensor in snapshot.tensors.items()
        if name.startswith(prefix)
    }


def _load(module: nn.Module, snapshot: Snapshot, prefix: str) -> None:
    try:
        module.load_state_dict(_under(snapshot, prefix))
    except RuntimeError as problem:
        raise CheckpointError(f"the checkpoint does not fit the {prefix[:-1]}: {problem}") from None


def _pack_optimizer(optimizer: Optimizer) -> tuple[dict[str, Tensor], list[dict[str, Any]]]:
    """Split the state of an optimiser into tensors, by parameter and name, and the options of its groups."""
    whole = optimizer.state_dict()
    tensors = {
        f"{parameter}.{name}": value
        for parameter, state in whole["state"].items()
        for name, value in state.items()
    }
    return tensors, whole["param_groups"]


def _unpack_optimizer(optimizer: Optimizer, tensors: dict[str, Tensor], groups: list[dict[str, Any]]) -> None:
    state: dict[int, dict[str, Tensor]] = {}
    for key, value in tensors.items():
        parameter, name = key.split(".", 1)
        state.setdefault(int(parameter), {})[name] = value
    optimizer.load_state_dict({"state": state, "param_groups": groups})
    # A fused optimiser walks the memory of a weight and of its state side by side, and files hold no strides:
    # the state of a kernel with its channels last must lie as the kernel does.
    for weight, kept in optimizer.state.items():
        for name, value in kept.items():
            if isinstance(value, Tensor) and value.shape == weight.shape:
                kept[name] = torch.empty_like(weight, dtype=value.dtype).copy_(value)
