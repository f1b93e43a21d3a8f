"""Pairs of scenes for training: drawn on demand, drawn beforehand, or matched among given pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Generator, Tensor

from aninfonce.distributions import Conditional, Laplace, Normal, Truncated, Uniform
from aninfonce.extending import StreamSource, check_choice, check_count, check_number, describe, pixel_tensor
from aninfonce.mixing import Mixing
from aninfonce.processes import DataGeneratingProcess, PairBatch
from aninfonce.spaces import Box
from aninfonce_papers.worlds.scenes.layout import LATENTS
from aninfonce_papers.worlds.scenes.matching import NearestLatents
from aninfonce_papers.worlds.scenes.released import SceneImages
from aninfonce_papers.worlds.scenes.renderer import SceneRenderer
from aninfonce_papers.worlds.scenes.shapes import Integers

BOX = Box(len(LATENTS), -1.0, 1.0)
_LAWS: dict[str, Callable[..., Normal | Laplace]] = {"normal": Normal, "laplace": Laplace}


class Rendered(Mixing):
    """The map from latents to pictures, drawn when it is called.

    Args:
        size: side of the pictures.

    """

    def __init__(self, size: int = 64) -> None:
        super().__init__()
        self.renderer = SceneRenderer(size)

    def forward(self, z: Tensor) -> Tensor:
        """Draw latents (N, 10) as float pictures (N, 3, size, size) from 0 to 1."""
        return pixel_tensor(self.renderer.render(z.detach().cpu().numpy())).to(z.device)


class Redrawn(Conditional):
    """Some latents are drawn anew around their anchor and kept in the box; the others stay as they are.

    Args:
        loc: anchors (N, 10).
        law: "normal" or "laplace".
        scale: of the law.
        latents: which ones; all if omitted.

    """

    def __init__(self, loc: Tensor, law: str, scale: float, latents: Sequence[int] | None = None) -> None:
        self.loc = loc
        self.columns = list(range(loc.shape[1]) if latents is None else latents)
        part = Box(len(self.columns), BOX.low, BOX.high)
        self.law = Truncated(_LAWS[check_choice(law, "law", _LAWS)](loc[:, self.columns], scale), part)

    def sample(self, generator: Generator | None = None) -> Tensor:
        """Draw one point around each row of `loc`: a tensor (N, 10)."""
        drawn = self.loc.clone()
        drawn[:, self.columns] = self.law.sample(generator)
        return drawn


def scene_process(
    law: str = "normal",
    scale: float = 0.1,
    *,
    latents: Sequence[int] | None = None,
    size: int | None = 64,
) -> DataGeneratingProcess:
    """Give the process behind 3DIdent: uniform latents in [−1, 1]¹⁰, and positives around them.

    Positives have the very latents that were drawn, since each is rendered: there is no nearest neighbour.

    Example:
        >>> law = scene_process(size=None)  # latents alone
        >>> law.sample(3, Generator().manual_seed(0)).x_pos.shape
        torch.Size([3, 10])

    Args:
        law: "normal" or "laplace", truncated to the box.
        scale: standard deviation of the normal, scale of the Laplace law.
        latents: that change within a pair; all if omitted.
        size: side of the pictures; None for the latents themselves as observations.

    """
    check_choice(law, "law", _LAWS)
    check_number(scale, "scale", minimum=0.0, exclusive=True)
    conditional = partial(Redrawn, law=law, scale=scale, latents=latents)
    return DataGeneratingProcess(BOX, Uniform(BOX), conditional, None if size is None else Rendered(size))


class PicturePairs:
    """Pairs of pictures that stay on disk, read as float32 from 0 to 1 when rows are taken.

    Args:
        x: uint8 (N, 3, H, W), of the anchors.
        x_pos: of their positives.
        z: latents of the anchors (N, 10), if known.

    """

    def __init__(self, x: Any, x_pos: Any, z: Tensor | None = None) -> None:
        if x.shape != x_pos.shape:
            raise ValueError(f"`x_pos` must have the shape of `x`, {x.shape}, got {describe(x_pos)}")
        self.x, self.x_pos, self.z = x, x_pos, z

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, rows: Tensor) -> PairBatch:
        """Take some of the pairs."""
        x, x_pos = (pixel_tensor(pictures[rows.numpy()]) for pictures in (self.x, self.x_pos))
        return PairBatch(x, x_pos, z=None if self.z is None else self.z[rows])


class MatchedSource(StreamSource):
    """Pairs from given pictures: latents are drawn, then replaced by the nearest that have a picture.

    A positive that would be its anchor is replaced by the second nearest. With classes, anchors are
    pictures drawn at random and positives are looked for among those of the same class.

    Args:
        scenes: the pictures.
        process: draws latents, as `scene_process(size=None)` does.
        seed: of the draws.

    """

    def __init__(self, scenes: SceneImages, process: DataGeneratingProcess, seed: int = 0) -> None:
        super().__init__(seed)
        self.scenes = scenes
        self.law = process
        self.nearest = NearestLatents(scenes.latents, scenes.classes)
        self._stored = torch.from_numpy(np.array(scenes.latents, dtype=np.float32))

    def next(self, n: int) -> PairBatch:
        """Take `n` pairs."""
        return self._take(check_count(n, "n"), self._stream)

    def fresh(self, n: int) -> PairBatch:
        """Take `n` pairs without moving the stream."""
        return self._take(check_count(n, "n"), self._aside)

    def rows(self, n: int, generator: Generator) -> tuple[Integers, Integers]:
        """Draw `n` pairs as rows of the pictures."""
        if self.scenes.kind == "causal3dident":
            anchors = torch.randint(len(self.scenes), (n,), generator=generator).numpy()
            wanted = self.law.conditional(self._stored[anchors]).sample(generator)
        else:
            pairs = self.law.sample(n, generator)
            assert pairs.z is not None
            assert pairs.z_pos is not None
            anchors, wanted = self.nearest.rows(pairs.z.numpy()), pairs.z_pos
        return anchors, self.nearest.partners(anchors, wanted.numpy())

    def _take(self, n: int, generator: Generator) -> PairBatch:
        anchors, positives = self.rows(n, generator)
        x, x_pos = (pixel_tensor(self.scenes.images[rows]) for rows in (anchors, positives))
        return PairBatch(x, x_pos, z=self._stored[anchors], z_pos=self._stored[positives])
