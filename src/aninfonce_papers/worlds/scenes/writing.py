"""Writes scenes in the layout of the released data sets."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from aninfonce.extending import (
    check_choice,
    check_count,
    pillow,
    reading,
    remove_leftovers,
    whole_file,
    write_whole,
)
from aninfonce_papers.worlds.scenes.bank import VERSION, Report
from aninfonce_papers.worlds.scenes.layout import LATENTS, REACH
from aninfonce_papers.worlds.scenes.released import ABOUT, KINDS, Part, parts
from aninfonce_papers.worlds.scenes.renderer import SceneRenderer
from aninfonce_papers.worlds.scenes.shapes import SHAPES, Floats

_CHUNK = 256
# From raw latents to lengths and angles, as in `latents.npy`.
_UNITS = np.array([REACH] * 3 + [np.pi / 2] * 7)


def write_scenes(
    kind: str,
    folder: str | Path,
    n: int,
    *,
    size: int = 224,
    test: int | None = None,
    seed: int = 0,
    report: Report | None = None,
) -> Path:
    """Draw a data set into a folder; pictures that are there are kept, so a stopped call can be repeated.

    Args:
        kind: "threedident", or "causal3dident" with as many pictures of each of seven objects.
        folder: to write to.
        n: training pictures.
        size: their side.
        test: test pictures; a tenth as many if omitted.
        seed: draws the latents, uniform and independent.
        report: called as pictures are drawn.

    """
    check_choice(kind, "kind", KINDS)
    counts = {"train": check_count(n, "n"), "test": check_count(test or max(n // 10, 1), "test")}
    folder = Path(folder)
    about = {"kind": kind, "size": size, "seed": seed, "counts": counts, "version": VERSION}
    _check_same(folder, about)
    jobs = [
        (part, number, _draw_latents(part, seed, [place, number], share))
        for place, split in enumerate(counts)
        for number, (part, share) in enumerate(_shares(kind, folder, split, counts[split]))
    ]
    total, done = sum(len(latents) for *_, latents in jobs), 0
    shapes = SHAPES if kind == "causal3dident" else SHAPES[:1]
    with SceneRenderer(size, shapes) as renderer:
        for part, number, latents in jobs:
            for start in range(0, len(latents), _CHUNK):
                rows = range(start, min(start + _CHUNK, len(latents)))
                _write(renderer, part, number, latents, rows)
                done += len(rows)
                if report is not None:
                    report(done, total)
    return folder


def _check_same(folder: Path, about: dict[str, object]) -> None:
    """Refuse to mix two data sets in one folder."""
    path = folder / ABOUT
    if path.exists():
        with reading(path, "the description of a data set"):
            there = dict(json.loads(path.read_text(encoding="utf-8")))
        if there != about:
            differ = ", ".join(f"{key} {there.get(key)}" for key in about if there.get(key) != about[key])
            raise ValueError(f"`folder` must be empty or hold the same data set, got one with {differ}")
    write_whole(path, json.dumps(about))


def _shares(kind: str, folder: Path, split: str, count: int) -> list[tuple[Part, int]]:
    """Say how many pictures of each class a split has."""
    found = parts(kind, folder, split)
    if count < len(found):
        raise ValueError(f"`n` and `test` must be at least {len(found)}, one per object, got {count}")
    return [
        (part, len(rows))
        for part, rows in zip(found, np.array_split(np.arange(count), len(found)), strict=True)
    ]


def _draw_latents(part: Part, seed: int, place: list[int], count: int) -> Floats:
    latents = np.random.default_rng([seed, *place]).uniform(-1, 1, (count, len(LATENTS)))
    part.images.mkdir(parents=True, exist_ok=True)
    for folder in {part.images, part.latents.parent}:
        remove_leftovers(folder)
    scaled = part.latents.with_name(part.latents.name.removeprefix("raw_"))
    for path, values in ((part.latents, latents), (scaled, latents * _UNITS)):
        with whole_file(path) as temporary:
            np.save(temporary, values, allow_pickle=False)
    return latents


def _write(renderer: SceneRenderer, part: Part, number: int, latents: Floats, rows: range) -> None:
    """Draw those pictures of a chunk that are not there yet."""
    files = {row: part.picture(row, len(latents)) for row in rows}
    missing = [row for row, file in files.items() if not file.exists()]
    if not missing:
        return
    pictures = renderer.render(latents[missing], np.full(len(missing), number))
    for row, picture in zip(missing, pictures, strict=True):
        with whole_file(files[row], durable=False) as temporary:
            pillow().fromarray(np.ascontiguousarray(picture.transpose(1, 2, 0))).save(temporary, format="PNG")
