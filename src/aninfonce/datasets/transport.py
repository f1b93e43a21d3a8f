"""Downloading archives and unpacking them. Nothing is trusted but checksums.

Some data sets are also packages, which the machine's own clients, npm and apt, download: only on request, as
by `aninfonce data get`. A client runs in an empty folder and changes nothing else: nothing is installed, and
a machine without a list of packages gets an error, not an `apt-get update`.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

from aninfonce.datasets.catalog import Route
from aninfonce.datasets.images import DatasetError
from aninfonce.datasets.reading import check_unpacked, one_line

# Called with a message, and with bytes done and in total where these are known.
Report = Callable[[str, int | None, int | None], None]

_SECONDS = 900
# How each client is called, and what it then leaves in the folder.
_CLIENTS = {"npm": ("npm pack {} --loglevel=error", "*.tgz"), "apt": ("apt-get download {}", "*.deb")}
_BLOCK = 1 << 18
# Six times the largest file of the catalogue: an endless download must not fill the disk.
_MOST_BYTES = 1 << 30


def download(route: Route, folder: Path, report: Report) -> list[Path]:
    """Get the archives of a route into an empty folder and check their sums."""
    if route.via == "http":
        archives = [download_file(address, folder, report) for address in route.what]
    else:
        archives = [_ask_client(route.via, route.what[0], folder, report)]
    for archive, expected in zip(archives, route.sha256, strict=False):
        check_sum(archive, expected)
    return archives


def check_sum(path: Path, expected: str, kind: str = "sha256") -> None:
    """Require the checksum of a file; another kind than sha256 where its makers publish none."""
    with path.open("rb") as file:
        found = hashlib.file_digest(file, kind).hexdigest()
    if found != expected:
        raise DatasetError(f"{path.name} is damaged: its {kind} must be {expected}, got {found}")


def unpack(archive: Path, folder: Path) -> None:
    """Unpack a .tgz, .tar.gz or .deb archive into a folder; a file of another kind is moved there."""
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


def download_file(address: str, folder: Path, report: Report, most: int | None = None) -> Path:
    """Download one file under its name, of a gigabyte if not `most` bytes at most; its sum is not checked."""
    import pooch

    path = folder / address.rsplit("/", 1)[-1]
    progress = _Progress(address, report, most or _MOST_BYTES)
    try:
        pooch.HTTPDownloader(progressbar=progress, chunk_size=_BLOCK, timeout=30)(address, path, None)
    except DatasetError:
        raise
    except (OSError, ValueError) as problem:
        raise DatasetError(f"{address} cannot be reached: {one_line(str(problem))}") from None
    return path


class _Progress:
    """Stands in for pooch's progress bar: reports the bytes, and stops a download that has no end."""

    def __init__(self, address: str, report: Report, most: int) -> None:
        self.address, self.report, self.most = address, report, most
        self.total = self.done = 0

    def update(self, count: int) -> None:
        """Count bytes."""
        self.done += count
        # The last block may be shorter than it is counted.
        if max(self.total, self.done - _BLOCK) > self.most:
            raise DatasetError(f"{self.address} sends more than {self.most} bytes")
        done = min(self.done, self.total) if self.total else self.done
        self.report(f"downloading {self.address.rsplit('/', 1)[-1]}", done, self.total or None)

    def reset(self) -> None:
        """Start counting again; pooch then reports the whole size."""
        self.done = 0

    def close(self) -> None:
        """Nothing to close."""


def silent(message: str, done: int | None, total: int | None) -> None:
    """Report nothing."""


def _ask_client(client: str, package: str, folder: Path, report: Report) -> Path:
    """Let npm or apt download a package, named as the client spells it, into an empty folder."""
    report(f"asking {client} for {package}", None, None)
    command, pattern = _CLIENTS[client]
    _run([part.format(package) for part in command.split()], folder)
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
