"""Experiments of the Causal Chambers: a table of settings and readings, and a picture for each row of it.

Their layout is a folder for each experiment, with a table of its name and folders of pictures by size:

    lt_crl_benchmark_v1/citris_1/citris_1.csv
    lt_crl_benchmark_v1/citris_1/images_64/...
"""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from filelock import FileLock

from aninfonce._files import put, whole_folder
from aninfonce.datasets.catalog import ABOUT, cache_dir
from aninfonce.datasets.images import DatasetError
from aninfonce.datasets.pillow import read_picture
from aninfonce.datasets.reading import check_unpacked, one_line, reading
from aninfonce.datasets.transport import Report, check_sum, download_file, silent

TUNNEL = "light-tunnel"
"""The name of the light tunnel's benchmark here."""
# Both as printed on the page of the data set (github.com/juangamella/causal-chamber, lt_crl_benchmark_v1).
ADDRESS = "https://causalchamber.s3.eu-central-1.amazonaws.com/downloadables/lt_crl_benchmark_v1.zip"
MD5 = "8ec492afffd0142abd70b1fa7082b104"
# Its size is not printed: about 320 000 pictures of 64 × 64.
_MOST_BYTES = 1 << 33
TUNNEL_FACTORS = ("red", "green", "blue", "pol_1", "pol_2")
"""Settings of the tunnel: three lights and the angles of two polarisers."""
TUNNEL_READINGS = ("ir_1", "vis_1", "ir_2", "vis_2", "ir_3", "vis_3", "current", "angle_1", "angle_2")
"""Readings of its sensors."""
_PICTURE = "image_file"


class _Table(NamedTuple):
    pictures: list[str]
    factors: npt.NDArray[np.float64]
    readings: npt.NDArray[np.float64]


def fetch_tunnel(to: str | Path | None = None, *, report: Report | None = None, again: bool = False) -> Path:
    """Fetch the benchmark of the light tunnel, real pictures of CC BY 4.0 licence, unless it is there.

    Args:
        to: where data sets are kept, as in `cache_dir`.
        report: called with a message, and with bytes done and in total where these are known.
        again: fetch it even if it is there.

    Returns:
        The archive, for `convert_chamber`.

    References:
        Gamella, Bing and Runge, "Sanity checking causal representation learning on a simple real-world
        system" (2025).

    """
    place = cache_dir(to)
    place.mkdir(parents=True, exist_ok=True)
    target = place / TUNNEL / ADDRESS.rsplit("/", 1)[-1]
    with FileLock(place / f".{TUNNEL}.lock"):
        if target.exists() and not again:
            return target
        with TemporaryDirectory(dir=place, prefix=f".{TUNNEL}-") as temporary:
            archive = download_file(ADDRESS, Path(temporary), report or silent, _MOST_BYTES)
            check_sum(archive, MD5, "md5")
            target.parent.mkdir(exist_ok=True)
            put(archive, target)
    return target


def experiment_names(path: str | Path) -> list[str]:
    """List the experiments of a data set: a folder in the layout of the chambers, or its archive.

    Args:
        path: the folder, or the .zip file.

    Returns:
        Names, sorted.

    """
    path = Path(path)
    if path.is_dir():
        tables = [file for file in path.glob("*/*.csv") if file.stem == file.parent.name]
        return sorted(file.stem for file in tables)
    with reading(path, "an archive"), zipfile.ZipFile(path) as archive:
        members = [Path(name) for name in archive.namelist() if name.endswith(".csv")]
        return sorted(name.stem for name in members if name.stem == name.parent.name)


def convert_chamber(path: str | Path, experiment: str, to: str | Path, *, size: str = "64") -> Path:
    """Convert one experiment to arrays, `x.npy`, `z.npy` and `readings.npy`, with rows in the order measured.

    Args:
        path: a folder in the layout of the chambers, or its archive.
        experiment: one of `experiment_names(path)`.
        to: folder that the arrays go to; it must not exist.
        size: of the pictures, as in the names of their folders.

    Returns:
        The folder, with x: pictures (N, 3, H, W) of uint8; z: (N, 5) `TUNNEL_FACTORS`; readings: (N, 9)
        `TUNNEL_READINGS`.
        `np.load(folder / "x.npy", mmap_mode="r")` opens the pictures without reading them.

    """
    path, to = Path(path), Path(to)
    if to.exists():
        raise ValueError(f"`to` must be a folder that does not exist yet, got {to}")
    known = experiment_names(path)
    if experiment not in known:
        listed = ", ".join(map(one_line, known)) or "none"
        raise ValueError(f"`experiment` must be one of those in {path}: {listed}; got {experiment!r}")
    to.parent.mkdir(parents=True, exist_ok=True)
    with _opened(path, experiment, size, to.parent) as folder, whole_folder(to) as made:
        table = _read_table(folder / f"{experiment}.csv")
        pictures = folder / f"images_{size}"
        if not pictures.is_dir():
            sizes = sorted(found.name.removeprefix("images_") for found in folder.glob("images_*"))
            raise ValueError(f"`size` must be one of {', '.join(sizes) or 'none'}, got {size!r}")
        _write_pictures([pictures / name for name in table.pictures], made / "x.npy")
        np.save(made / "z.npy", table.factors)
        np.save(made / "readings.npy", table.readings)
        about = {"experiment": experiment, "z": TUNNEL_FACTORS, "readings": TUNNEL_READINGS, "pictures": size}
        (made / ABOUT).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    return to


@contextmanager
def _opened(path: Path, experiment: str, size: str, beside: Path) -> Iterator[Path]:
    """Give the folder of an experiment; from an archive, its table and pictures are unpacked temporarily."""
    if path.is_dir():
        yield path / experiment
        return
    with TemporaryDirectory(dir=beside, prefix=".chamber-") as temporary:
        with reading(path, "an archive"), zipfile.ZipFile(path) as archive:
            kept = ((experiment, f"{experiment}.csv"), (experiment, f"images_{size}"))
            wanted = [
                member
                for member in archive.infolist()
                if not member.is_dir() and _within(Path(member.filename)) in kept
            ]
            check_unpacked(path, sum(member.file_size for member in wanted))
            for member in wanted:
                archive.extract(member, temporary)  # names that lead out of the folder are changed by zipfile
        (table,) = Path(temporary).rglob(f"{experiment}.csv")
        yield table.parent


def _within(name: Path) -> tuple[str, ...]:
    """Give the experiment that a file belongs to, and its table or the folder of pictures that it is in."""
    return name.parts[-2:] if name.suffix == ".csv" else name.parts[-3:-1]


def _read_table(path: Path) -> _Table:
    with reading(path, "a table of settings and readings"), path.open(encoding="utf-8", newline="") as file:
        table = csv.DictReader(file)
        missing = [
            name
            for name in (*TUNNEL_FACTORS, *TUNNEL_READINGS, _PICTURE)
            if name not in (table.fieldnames or ())
        ]
        if missing:
            raise DatasetError(f"{path} must have the columns {', '.join(missing)}")
        rows = list(table)
        if not rows:
            raise DatasetError(f"{path} must have rows")
        names = [row[_PICTURE] for row in rows]
        outside = [name for name in names if not name or Path(name).name != name]
        if outside:
            raise DatasetError(f"{path} must name pictures by their files, got {one_line(str(outside[0]))!r}")
        factors, readings = (
            np.array([[float(row[name]) for name in wanted] for row in rows])
            for wanted in (TUNNEL_FACTORS, TUNNEL_READINGS)
        )
    return _Table(names, factors, readings)


def _write_pictures(files: list[Path], target: Path) -> None:
    """Write pictures (N, 3, H, W) one by one: together they may not fit into memory."""
    first = np.asarray(read_picture(files[0]))
    shape = (len(files), 3, *first.shape[:2])
    pixels = np.lib.format.open_memmap(target, mode="w+", dtype=np.uint8, shape=shape)
    for place, file in enumerate(files):
        picture = np.asarray(read_picture(file))
        if picture.shape != first.shape:
            raise DatasetError(
                f"{file} must have the size of the first picture, {first.shape}, got {picture.shape}"
            )
        pixels[place] = picture.transpose(2, 0, 1)
    pixels.flush()
