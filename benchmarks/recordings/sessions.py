"""Real paths of rats with simulated cells that fire along them: spike counts whose cause is known.

`ratinabox` brings the paths of Sargolini et al. (2006, an arena of 1 m × 1 m, 600 s) and Tanni et al. (2022,
3.5 m × 2.5 m, 7323 s), and the grid and place cells. Cells and spikes are drawn from the seed alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.ndimage import uniform_filter1d

from benchmarks.recordings.worlds import generator

Array = npt.NDArray[np.floating]

_PEAK_HZ = 20.0
_BLOCK_SECONDS = 30.0
# Every fifth block of time is only for scoring.
_EVERY = 5

ARENAS = {"sargolini": (1.0, 1.0, 0.05), "tanni": (3.5, 2.5, 0.1)}
# Spacings in metres: ratinabox's own, and four modules of about the spacings reported for rats (Stensola et
# al., 2012; the figures were not checked against the paper). Four were added after three were seen to fail.
# The widest decides over how much of an arena cells repeat: in 1 m, three modules up to .8 m wrap around and
# four up to .98 m hardly do.
THREE, FOUR = (0.3, 0.5, 0.8), (0.388, 0.484, 0.65, 0.984)


class Case(NamedTuple):
    """An arena, how many cells of each kind there are, and the spacings of the grid cells' modules."""

    arena: str
    grid: int
    place: int = 0
    head: int = 0
    modules: tuple[float, ...] = THREE


CASES = {
    "sargolini-grid": Case("sargolini", 120),
    "sargolini-grid-4-modules": Case("sargolini", 120, modules=FOUR),
    "sargolini-place": Case("sargolini", 0, 120),
    "sargolini-mixed": Case("sargolini", 60, 30, 30),
    "tanni-grid": Case("tanni", 120),
    "tanni-grid-4-modules": Case("tanni", 120, modules=FOUR),
    "tanni-grid-place": Case("tanni", 90, 30),
}


@dataclass(frozen=True)
class Session:
    """A recording of spikes and what the rat did.

    Attributes:
        counts: spikes of each cell in each frame (T, cells), float32.
        position: metres (T, 2).
        heading: direction of movement, radians (T,).
        frame: seconds.
        block: number of the stretch of time a frame is in (T,); neighbours in training have one number.
        held_out: whether a frame is only for scoring (T,).

    """

    counts: Array
    position: Array
    heading: Array
    frame: float
    block: npt.NDArray[np.intp]
    held_out: npt.NDArray[np.bool_]

    def summed(self, frames: int = 9) -> Array:
        """Sum counts over frames around each; never across the border between training and scoring."""
        parts = [
            uniform_filter1d(self.counts[self.block == number], frames, axis=0, mode="nearest") * frames
            for number in np.unique(self.block)
        ]
        return np.concatenate(parts)


@lru_cache(maxsize=1)
def session(case: str, seed: int) -> Session:
    """Let simulated cells fire along a real path; the seed draws the cells and the spikes."""
    if case not in CASES:
        raise ValueError(f"`case` must be one of {', '.join(CASES)}, got {case!r}")
    arena, grids, places, heads, modules = CASES[case]
    frame = ARENAS[arena][2]
    position, heading = path(arena)
    rng = generator(seed, case, "cells")
    rates = [np.empty((0, len(position)))]
    if grids:
        rates.append(_rates(_grid_cells(arena, grids, modules, rng), position))
    if places:
        rates.append(_rates(_place_cells(arena, places, rng), position))
    if heads:
        # Wide bumps around a preferred direction.
        preferred = rng.uniform(0, 2 * np.pi, (heads, 1))
        rates.append(np.exp(2 * (np.cos(heading - preferred) - 1)))
    expected = np.concatenate(rates).T * _PEAK_HZ * frame
    counts = generator(seed, case, "spikes").poisson(expected).astype(np.float32)
    block, held_out = blocks(len(position), frame)
    return Session(counts, position, heading, frame, block, held_out)


def blocks(rows: int, frame: float) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
    """Cut time into blocks, every fifth for scoring; those that follow each other in training are one."""
    number = (np.arange(rows) * frame // _BLOCK_SECONDS).astype(np.intp)
    held_out = number % _EVERY == _EVERY - 1
    changes = np.diff(held_out.astype(np.intp), prepend=int(held_out[0])) != 0
    return np.cumsum(changes), held_out


@lru_cache(maxsize=2)
def path(arena: str) -> tuple[Array, Array]:
    """Position (T, 2) and direction of movement (T,) of a real rat, one row per frame."""
    import ratinabox

    width, height, frame = ARENAS[arena]
    with np.load(Path(ratinabox.__file__).parent / "data" / f"{arena}.npz") as stored:
        times, places = stored["t"], stored["pos"]
    frames = np.arange(times[0], times[-1], frame)
    position = np.stack([np.interp(frames, times, places[:, axis]) for axis in range(2)], axis=1)
    velocity = np.gradient(uniform_filter1d(position, 5, axis=0), axis=0)
    # The tracker of the larger arena sees a few frames just outside the walls.
    inside = np.clip(position, 1e-6, np.array([width, height]) - 1e-6)
    return inside, np.arctan2(velocity[:, 1], velocity[:, 0])


def _rates(neurons: Any, position: Array) -> Array:
    """Give firing rates (cells, T), a piece at a time: ratinabox holds a dozen copies of what it is asked."""
    pieces = np.array_split(position, -(-len(position) // 5000))
    return np.concatenate([neurons.get_state(evaluate_at=None, pos=piece) for piece in pieces], axis=1)


def _agent(arena: str) -> Any:
    import ratinabox

    ratinabox.verbose = False
    from ratinabox.Agent import Agent
    from ratinabox.Environment import Environment

    width, height, _ = ARENAS[arena]
    return Agent(Environment(params={"scale": height, "aspect": width / height}))


def _grid_cells(arena: str, n: int, modules: tuple[float, ...], rng: np.random.Generator) -> Any:
    """Cells of each module in turn; all that ratinabox would draw globally is given to it."""
    from ratinabox.Neurons import GridCells

    module = np.arange(n) % len(modules)
    # A module is turned by .1 radians against the one before, as in ratinabox's own.
    spacing, turn = np.array(modules)[module], 0.1 * module
    phases = rng.uniform(0, 2 * np.pi, (n, 2))
    parameters = {"n": n, "gridscale": spacing, "orientation": turn, "phase_offset": phases}
    return GridCells(_agent(arena), params=parameters)


def _place_cells(arena: str, n: int, rng: np.random.Generator) -> Any:
    """Gaussian fields anywhere in the arena, as wide as a sixth of its shorter side."""
    from ratinabox.Neurons import PlaceCells

    width, height, _ = ARENAS[arena]
    centres = rng.uniform(0, 1, (n, 2)) * [width, height]
    parameters = {"place_cell_centres": centres, "widths": height / 6, "wall_geometry": "euclidean"}
    return PlaceCells(_agent(arena), params=parameters)
