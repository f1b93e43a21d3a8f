"""Training a VAE, once: a run that was stopped goes on, and a finished one is found by the next call."""

from __future__ import annotations

import hashlib
import math
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from filelock import FileLock

from aninfonce.extending import (
    ProgressBars,
    Snapshot,
    describe,
    pack_state,
    read_snapshot,
    remove_leftovers,
    stream,
    unpack_state,
    write_snapshot,
)
from aninfonce.training import CheckpointError
from aninfonce_papers.worlds.vae.vae import VAE, VAESettings

_ROWS = 4096
# A snapshot takes a tenth of a second; five epochs on all of MNIST take most of a minute.
_KEEP_EVERY = 5
# Raise this when the same images and settings come to give other weights: older ones are then ignored.
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
    if directory is None:
        return _train(VAERun(images, settings), progress)
    path = Path(directory) / f"vae-{_key(images, settings)}"
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_name(f".{path.name}.lock")):
        remove_leftovers(path.parent)
        if path.exists():
            try:
                return load_vae(path)
            except CheckpointError as problem:
                warnings.warn(f"{problem}; training it again", stacklevel=2)
        vae = _train(VAERun(images, settings, path.with_name(f"{path.name}.unfinished")), progress)
        save_vae(vae, path)
    return vae


def _train(run: VAERun, progress: bool) -> VAE:
    if not progress:
        return run.train(lambda epoch, loss: None)
    with ProgressBars() as bars:
        bars.start("vae", run.settings.epochs)
        return run.train(lambda epoch, loss: bars.row("vae", {"step": epoch, "loss": loss}))


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


class VAERun:
    """A training run that can be stopped and taken up again, bit for bit.

    `unfinished` is the folder of a snapshot to go on from, kept every few epochs and removed at the end.
    """

    def __init__(self, images: Any, settings: VAESettings, unfinished: Path | None = None) -> None:
        self.images = images
        self.settings = settings
        self.unfinished = unfinished
        self.vae = VAE(tuple(images.shape[1:]), settings)
        self.optimizer = torch.optim.Adam(self.vae.parameters(), lr=settings.lr)
        self.generator = stream(settings.seed, "images and noise")
        self._parts = {"vae": self.vae}, [self.optimizer], {"noise": self.generator}
        self.history: list[float] = []
        if unfinished is not None and unfinished.exists():
            self._restore(unfinished)

    def train(self, report: Callable[[int, float], None]) -> VAE:
        """Do the epochs that are left; `report` is called with the number of each and its mean loss."""
        for epoch in range(len(self.history), self.settings.epochs):
            self.history.append(self._epoch(epoch))
            report(epoch + 1, self.history[-1])
            if self.unfinished is not None and (epoch + 1) % _KEEP_EVERY == 0:
                self._save(self.unfinished)
        if self.unfinished is not None:
            shutil.rmtree(self.unfinished, ignore_errors=True)
        self.vae.history = tuple(self.history)
        return self.vae.eval()

    def _epoch(self, epoch: int) -> float:
        settings = self.settings
        batch = min(settings.batch_size, len(self.images))
        steps = len(self.images) // batch
        order = torch.randperm(len(self.images), generator=self.generator)
        total = 0.0
        for step in range(steps):
            done = (epoch * steps + step) / (settings.epochs * steps)
            self.optimizer.param_groups[0]["lr"] = settings.lr * (1 + math.cos(math.pi * done)) / 2
            rows = order[step * batch : (step + 1) * batch]
            pixels, divergence = self.vae.loss(self.images[rows.numpy()], self.generator)
            loss = pixels + settings.beta * divergence
            self.optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            self.optimizer.step()
            total += float(loss.detach())
        return total / steps

    def _save(self, path: Path) -> None:
        state = pack_state(*self._parts)
        write_snapshot(path, Snapshot(state.tensors, {**state.facts, "history": self.history}))

    def _restore(self, path: Path) -> None:
        """Go on from a snapshot; one that cannot be read costs no more than its epochs."""
        try:
            snapshot = read_snapshot(path)
            unpack_state(snapshot, *self._parts)
        except CheckpointError:
            return
        self.history = list(snapshot.facts["history"])


def _key(images: Any, settings: VAESettings) -> str:
    """Hash everything that decides the result."""
    digest = hashlib.sha256(f"{_VERSION} {settings.model_dump_json()}".encode())
    digest.update(f"{tuple(images.shape)} {images.dtype}".encode())
    for start in range(0, len(images), _ROWS):
        digest.update(np.ascontiguousarray(images[start : start + _ROWS]).data)
    return digest.hexdigest()[:16]
