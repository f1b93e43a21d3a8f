"""Videos of people who walk, turn and come nearer, as a camera on a car would see them.

People and camera move as such things do: mostly steadily, sometimes not at all, now and then with a jerk. So
the changes from frame to frame are sparse, with a peak at zero and long tails, as those of natural videos.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numpy.random import Generator

from aninfonce.extending import check_count, derive_seed
from aninfonce_papers.worlds.videos.masks import GENERATED, SIDE, MaskVideos, mask_latents
from aninfonce_papers.worlds.videos.silhouettes import Figures, draw

# Those of KITTI, whose pictures are scaled to 64 rows: focal length in pixels, camera above the ground and
# time between two frames. Masks of fewer pixels end a video, as in the released data.
_FOCAL, _CAMERA, _SECONDS = 123.0, 1.65, 0.1
_SMALLEST = 30
_NEAREST = 3.2


def generate_videos(count: int = 500, *, seed: int = 0, longest: int = 100) -> MaskVideos:
    """Generate videos of pedestrians in the format of KITTI Masks.

    Example:
        >>> videos = generate_videos(3, seed=1, longest=10)
        >>> len(videos), videos.masks[0].shape[1:], videos.latents[0].shape[1:]
        (3, (64, 64), (3,))

    Args:
        count: number of videos.
        seed: the same videos for the same seed.
        longest: frames of a video, at most; most end sooner, when the person is out of sight.

    Returns:
        Masks, and their centre of mass and area.

    """
    check_count(count, "count")
    check_count(longest, "longest", minimum=2)
    rng = np.random.default_rng(derive_seed(seed, "pedestrians"))
    masks: list[npt.NDArray[np.bool_]] = []
    # Some leave the picture at once.
    while len(masks) < count:
        masks += _film(rng, count, longest)
    masks = masks[:count]
    return MaskVideos(masks, [mask_latents(video) for video in masks], GENERATED)


def _film(rng: Generator, count: int, longest: int) -> list[npt.NDArray[np.bool_]]:
    """Film some people, each until they are out of sight."""
    walks, seen = _walk(rng, (count, longest))
    lengths = np.minimum(_until_first(~seen), 2 + rng.geometric(1 / 45, count))
    kept = np.arange(longest) < lengths[:, None]
    masks = draw(walks[kept])
    films = []
    for film in np.split(masks, np.cumsum(kept.sum(axis=1))[:-1]):
        length = int(_until_first(film.sum(axis=(1, 2)) < _SMALLEST))
        if length >= 2:
            films.append(film[:length])
    return films


def _until_first(event: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
    """Count the steps (along the last axis) before something happens; all, if it never does."""
    steps: npt.NDArray[np.intp] = np.where(event.any(axis=-1), event.argmax(axis=-1), event.shape[-1])
    return steps


def _walk(rng: Generator, shape: tuple[int, int]) -> tuple[Figures, npt.NDArray[np.bool_]]:
    """Let people walk past a camera: figures with fields (S, T), and whether they are in sight."""
    people = (shape[0], 1)
    stature = np.where(
        rng.random(people) < 0.1, rng.uniform(1.05, 1.4, people), rng.normal(1.7, 0.09, people)
    )
    speed, heading = _pace(rng, shape), _heading(rng, shape)
    drives = rng.random(people) < 0.5
    changes = np.cumsum(_jerks(rng, shape, 0.02, 1.0), axis=1)
    forward = drives * np.maximum(rng.exponential(2.0, people) + changes, 0)

    height = np.exp(rng.uniform(np.log(14), np.log(40), people))
    depth = _FOCAL * stature / height - _travelled(speed * np.cos(heading) + forward)
    seen = depth > _NEAREST
    depth = np.maximum(depth, _NEAREST)
    # The picture is one of several windows side by side: what is far from the middle moves outwards.
    window, start = rng.uniform(-50, 50, people), rng.uniform(8, 56, people)
    side = (start - SIDE / 2 + window) * depth[:, :1] / _FOCAL + _travelled(speed * np.sin(heading))
    turns = rng.laplace(0, 0.02, people) * (rng.random(people) < 0.4) + _jerks(rng, shape, 0.03, 0.05)
    x = SIDE / 2 + _FOCAL * (side / depth - _travelled(drives * turns)) - window
    bumps = _smooth(rng.laplace(0, 1, shape) * np.where(drives, 0.6, 0.05), 0.5)
    ground = rng.normal(24, 4, people) + _FOCAL * _CAMERA / depth + bumps

    stride = 0.34 * np.minimum(speed, 1.6)
    # Two steps a second at a walk, and the longer the legs the slower.
    phase = rng.uniform(0, 2 * np.pi, people) + _travelled(2 * np.pi * speed / (0.85 * stature))
    clothes = [np.broadcast_to(rng.random(people) < share, shape) for share in (0.3, 0.2)]
    build = np.broadcast_to(rng.uniform(0.85, 1.25, people), shape)
    fields = (x, ground, _FOCAL * stature / depth, heading, phase, stride, build, *clothes)
    seen &= (x > -4) & (x < SIDE + 4)
    return Figures(*(np.asarray(field, dtype=np.float32) for field in fields)), seen


def _pace(rng: Generator, shape: tuple[int, int]) -> npt.NDArray[np.float64]:
    """Speeds in metres a second: most walk, some stand, and some change their mind."""
    own = np.clip(rng.normal(1.3, 0.25, (shape[0], 1)), 0.5, 2.2)
    changes = np.cumsum(rng.random(shape) < 0.015, axis=1)
    walks = (changes + (rng.random((shape[0], 1)) < 0.15)) % 2 == 0
    return _smooth(own * walks, 0.3)


def _heading(rng: Generator, shape: tuple[int, int]) -> npt.NDArray[np.float64]:
    """Directions in radians: straight on, with a turn now and then."""
    start = rng.uniform(0, 2 * np.pi, (shape[0], 1))
    return start + _smooth(np.cumsum(_jerks(rng, shape, 0.03, 0.7), axis=1), 0.25)


def _jerks(rng: Generator, shape: tuple[int, int], share: float, scale: float) -> npt.NDArray[np.float64]:
    """Draw changes that are mostly zero."""
    return rng.laplace(0, scale, shape) * (rng.random(shape) < share)


def _smooth(values: npt.NDArray[np.float64], rate: float) -> npt.NDArray[np.float64]:
    """Follow values (S, T) with some inertia, from where they start."""
    smooth = np.array(values, dtype=np.float64)
    for step in range(1, values.shape[1]):
        smooth[:, step] = smooth[:, step - 1] + rate * (values[:, step] - smooth[:, step - 1])
    return smooth


def _travelled(speed: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Add speeds (S, T) up to distances, from 0 at the first frame."""
    way: npt.NDArray[np.float64] = np.cumsum(speed, axis=1) * _SECONDS
    return way - way[:, :1]
