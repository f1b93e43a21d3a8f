"""Training a VAE, once: the next call with the same images and settings finds it."""

from __future__ import annotations

import hashlib
import warnings
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock

from aninfonce.extending import (
    ProgressBars,
    Snapshot,
    describe,
    read_snapshot,
    remove_leftovers,
    write_snapshot,
)
from aninfonce.training import CheckpointError
from aninfonce_papers.worlds.vae.running import VAERun
from aninfonce_papers.worlds.vae.vae import VAE, VAESettings

_ROWS = 4096
# To be raised when the same images and settings come to give other weights: older ones are then left alone.
_VERSION = 2


def train_vae(
    images: Any,
    settings: VAESettings | None = None,
    *,
    directory: str | Path | None = None,
    progress: bool = False,
) -> VAE:
    """Train a VAE, or take the one that was trained before on the same images with the same settings.

    With a `directory`, a run that was stopped goes on from where it was, and of several processes that want
    the same VAE at once, one trains it and the others wait.

    Example:
        >>> import torch
        >>> images = torch.rand(64, 1, 8, 8, generator=torch.Generator().manual_seed(0))
        >>> vae = train_vae(images, VAESettings(dim=2, width=16, epochs=3, batch_size=16))
        >>> len(vae.history), vae.decode(torch.zeros(1, 2)).shape
        (3, torch.Size([1, 1, 8, 8]))

    Args:
        images: uint8, or floats from 0 to 1, (N, C, H, W); may lie on disk.
        settings: of the model and its training, 50 epochs of a 10-d VAE if omitted.
        directory: where trained ones are kept; nothing is kept if omitted.
        progress: show a bar with the time left.

    Returns:
        The VAE in evaluation mode; `history` holds the mean loss of each epoch.

    """
    if len(getattr(images, "shape", ())) != 4 or len(images) == 0:
        raise ValueError(f"`images` must have shape (N, C, H, W), got {describe(images)}")
    settings = settings or VAESettings()
    path = None if directory is None else Path(directory) / f"vae-{_key(images, settings)}"
    with ExitStack() as stack:
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(FileLock(path.with_name(f".{path.name}.lock")))
            remove_leftovers(path.parent)
        if path is not None and path.exists():
            try:
                return load_vae(path)
            except CheckpointError as problem:
                warnings.warn(f"{problem}; training it again", stacklevel=2)
        unfinished = None if path is None else path.with_name(f"{path.name}.unfinished")
        run = VAERun(images, settings, unfinished)
        bars = stack.enter_context(ProgressBars()) if progress else None
        if bars is not None:
            bars.start("vae", settings.epochs)
        vae = run.train(lambda epoch, loss: bars.row("vae", {"step": epoch, "loss": loss}) if bars else None)
        if path is not None:
            save_vae(vae, path)
    return vae


def save_vae(vae: VAE, path: str | Path) -> Path:
    """Write a VAE as a folder (safetensors and JSON), whole or not at all."""
    facts = {
        "kind": "vae",
        "shape": list(vae.shape),
        "settings": vae.settings.model_dump(mode="json"),
        "history": list(vae.history),
    }
    return write_snapshot(Path(path), Snapshot(vae.state_dict(), facts))


def load_vae(path: str | Path) -> VAE:
    """Read a VAE that `save_vae` or `train_vae` wrote; a `CheckpointError` says what is wrong with it."""
    snapshot = read_snapshot(Path(path))
    try:
        vae = VAE(tuple(snapshot.facts["shape"]), VAESettings(**snapshot.facts["settings"]))
        vae.load_state_dict(snapshot.tensors)
        vae.history = tuple(snapshot.facts["history"])
    except (KeyError, TypeError, ValueError, RuntimeError) as problem:
        raise CheckpointError(f"{path} holds no VAE of this version: {problem}") from None
    return vae.eval()


def _key(images: Any, settings: VAESettings) -> str:
    """Sum up everything that decides the result."""
    digest = hashlib.sha256(f"{_VERSION} {settings.model_dump_json()}".encode())
    digest.update(f"{tuple(images.shape)} {images.dtype}".encode())
    for start in range(0, len(images), _ROWS):
        digest.update(np.ascontiguousarray(images[start : start + _ROWS]).data)
    return digest.hexdigest()[:16]
