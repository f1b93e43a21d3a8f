"""Files and folders that are written whole or not at all.

Everything the package writes goes through here: first to a temporary neighbour, which is synced to the disk
and then renamed. A reader never sees half of a file, and a crash leaves the old one in place.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path

# Ends the name of everything unfinished; the part before it is the process that is writing.
_PARTIAL = ".partial"
# Begins the name of a folder that is moved aside for a new one.
_OLD = "old-"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def whole_file(path: str | Path, *, durable: bool = True) -> Iterator[Path]:
    """Give a temporary path to write to; it takes the name `path` at the end of the block.

    If the block raises, the temporary file is removed and an earlier `path` stays as it was. Folders above
    are made. The temporary name ends like `path`, for writers that look at the ending. A device or a pipe
    has no content to keep and is written to directly.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     with whole_file(Path(folder) / "a.txt") as temporary:
        ...         _ = temporary.write_text("all of it")
        ...     (Path(folder) / "a.txt").read_text()
        'all of it'

    Args:
        path: of the file. Of a link, what it points to is replaced.
        durable: wait for the disk. That takes milliseconds: too long for thousands of pictures, which can
            be drawn again after a power cut.

    Yields:
        Where to write.

    """
    path = Path(path)
    if path.exists() and not path.is_file() and not path.is_dir():
        yield path
        return
    target = path.resolve() if path.is_symlink() else path
    temporary = _neighbour(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        put(temporary, target, durable=durable)
    except OSError as problem:
        raise _named(problem, path, temporary) from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write a text or bytes as a file, whole or not at all; see `whole_file`."""
    with whole_file(path) as temporary:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def whole_folder(path: str | Path) -> Iterator[Path]:
    """Give a temporary folder to fill; it takes the name `path` at the end of the block.

    A folder that is there is replaced; if the block raises, it stays as it was.
    """
    path = Path(path)
    temporary, aside = _neighbour(path), _neighbour(path.with_name(f"{_OLD}{path.name}"))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.mkdir()
        yield temporary
        for file in temporary.iterdir():
            if file.is_file():
                sync(file)
        sync(temporary)
        if path.exists():
            # rename does not replace a folder that is not empty, so the old one is moved aside first.
            os.replace(path, aside)
        os.replace(temporary, path)
        sync(path.parent)
    except BaseException as problem:
        if aside.exists() and not path.exists():
            os.replace(aside, path)
        if isinstance(problem, OSError):
            raise _named(problem, path, temporary) from None
        raise
    finally:
        for folder in (temporary, aside):
            shutil.rmtree(folder, ignore_errors=True)


def put(temporary: Path, path: Path, *, durable: bool = True) -> None:
    """Rename a finished file to its name, replacing one that is there."""
    if durable:
        sync(temporary)
    os.replace(temporary, path)
    if durable:
        sync(path.parent)


def append_line(path: str | Path, line: str) -> None:
    """Add a line to a file, whole or not at all, and wait for the disk.

    A machine that dies in the middle leaves a last line without its end: the next call removes it, and so
    does this one if the disk is full. Of several processes, only one may write at a time.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder) / "rows.txt"
        ...     for line in ("first", "second"):
        ...         append_line(path, line)
        ...     path.read_text().splitlines()
        ['first', 'second']

    Args:
        path: of the file, created if needed; folders above it are not.
        line: without its end.

    """
    try:
        with Path(path).open("a+b", buffering=0) as file:
            end = _end_of_last_line(file)
            file.truncate(end)
            rest = memoryview(f"{line}\n".encode())
            try:
                while rest:
                    rest = rest[file.write(rest) :]
                os.fsync(file.fileno())
            except BaseException:
                file.truncate(end)
                raise
    except OSError as problem:
        raise _named(problem, Path(path)) from None


def remove_leftovers(folder: str | Path, *, alone: bool = False) -> list[Path]:
    """Remove what killed processes left unfinished in a folder; what a living process writes stays.

    A folder that had been moved aside when its writer was killed gets its name back.

    Args:
        folder: looked at without the folders below it; need not exist.
        alone: whether nobody else can be writing here, such as under a lock. Otherwise a leftover is kept as
            long as a process with its writer's number runs.

    Returns:
        What was removed.

    """
    removed = []
    for path in sorted(Path(folder).glob(f".*{_PARTIAL}*")):
        name, _, writer = path.name.split(_PARTIAL)[0][1:].rpartition(".")
        if not writer.isdigit() or (not alone and _runs(int(writer))):
            continue
        if not put_back(path, name):
            removed.append(path)
    return removed


def put_back(path: Path, name: str) -> bool:
    """Give a folder that was moved aside, as `old-` and its name, that name again; remove anything else."""
    place = path.with_name(name.removeprefix(_OLD))
    if path.is_dir() and name.startswith(_OLD) and not place.exists():
        os.replace(path, place)
        return True
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)
    return False


def sync(path: Path) -> None:
    """Sync a file, or a folder's list of names, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _neighbour(path: Path) -> Path:
    """Name an unfinished file or folder beside `path`: hidden, this process's own, with the same ending."""
    place = path.with_name(f".{path.name}.{os.getpid()}{_PARTIAL}{path.suffix}")
    # A process with the same number may have been killed here before.
    if place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)
    return place


def _named(problem: OSError, path: Path, temporary: Path | None = None) -> OSError:
    """Say which file could not be written, by the name that the user knows, and what to do about it."""
    if problem.filename is not None and not str(problem.filename).startswith(str(temporary or path)):
        return problem
    if problem.errno is None:
        # numpy counts bytes instead of passing on what the system said.
        return OSError(f"{path} cannot be written (is the disk full?): {problem}")
    text = os.strerror(problem.errno)
    if problem.errno in _FULL:
        text += "; what was there before is unchanged, so make room and try again"
    return OSError(problem.errno, text, str(path))


def _end_of_last_line(file: FileIO) -> int:
    """Find the position after the last complete line."""
    end = file.seek(0, os.SEEK_END)
    while end > 0:
        start = max(0, end - 4096)
        file.seek(start)
        found = file.read(end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


def _runs(process: int) -> bool:
    if process == os.getpid():
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
