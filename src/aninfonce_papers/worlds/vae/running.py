"""A training run of a VAE that can be stopped and taken up again, bit for bit."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from aninfonce.extending import Snapshot, read_snapshot, stream, write_snapshot
from aninfonce.training import CheckpointError
from aninfonce_papers.worlds.vae.vae import VAE, VAESettings

# A snapshot takes a tenth of a second; five epochs on all of MNIST take most of a minute.
_KEEP_EVERY = 5


class VAERun:
    """Training, epoch by epoch.

    Args:
        images: (N, C, H, W), bytes or floats from 0 to 1.
        settings: of the model and its training.
        unfinished: folder of a snapshot to go on from, kept every few epochs and removed at the end.

    """

    def __init__(self, images: Any, settings: VAESettings, unfinished: Path | None = None) -> None:
        self.images = images
        self.settings = settings
        self.unfinished = unfinished
        self.vae = VAE(tuple(images.shape[1:]), settings)
        self.optimizer = torch.optim.Adam(self.vae.parameters(), lr=settings.lr)
        self.generator = stream(settings.seed, "images and noise")
        self.history: list[float] = []
        if unfinished is not None and unfinished.exists():
            self._restore(unfinished)

    def train(self, report: Callable[[int, float], None]) -> VAE:
        """Do the epochs that are left.

        Args:
            report: told the number of each finished epoch and its mean loss.

        Returns:
            The VAE in evaluation mode.

        """
        for epoch in range(len(self.history), self.settings.epochs):
            self.history.append(self._epoch(epoch))
            report(epoch + 1, self.history[-1])
            if self.unfinished is not None and (epoch + 1) % _KEEP_EVERY == 0:
                write_snapshot(self.unfinished, Snapshot(self._tensors(), {"history": self.history}))
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

    def _tensors(self) -> dict[str, Tensor]:
        tensors = {f"model.{name}": value for name, value in self.vae.state_dict().items()}
        for name, weight in self.vae.named_parameters():
            for what, value in self.optimizer.state[weight].items():
                tensors[f"adam.{what}.{name}"] = value
        return {**tensors, "generator": self.generator.get_state()}

    def _restore(self, path: Path) -> None:
        """Go on from a snapshot; one that cannot be read only costs the time to its epoch."""
        try:
            snapshot = read_snapshot(path)
        except CheckpointError:
            return
        tensors = snapshot.tensors
        self.vae.load_state_dict({name: tensors[f"model.{name}"] for name in self.vae.state_dict()})
        for name, weight in self.vae.named_parameters():
            kinds = ("step", "exp_avg", "exp_avg_sq")
            self.optimizer.state[weight] = {kind: tensors[f"adam.{kind}.{name}"] for kind in kinds}
        self.generator.set_state(tensors["generator"])
        self.history = list(snapshot.facts["history"])
