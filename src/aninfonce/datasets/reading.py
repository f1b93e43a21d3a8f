"""Files from users and the network: whatever is wrong with one becomes a one-line error that names it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aninfonce.datasets.images import DatasetError

# A packed file may unpack to this many bytes, or to so many times its size, whichever is more. Deflate alone
# would allow 1032 times; masks of people, which pack very well, need 100.
_FREE, _TIMES = 1 << 28, 300
_LONGEST = 200


@contextmanager
def reading(path: Path, what: str) -> Iterator[None]:
    """Turn whatever goes wrong in the block into a one-line `DatasetError`; those of the block pass.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder, reading(Path(folder), "numbers"):
        ...     pass
        Traceback (most recent call last):
        aninfonce.datasets.images.DatasetError: ... must be a file, got a folder

    Args:
        path: of the file that is read. Anything but a plain file is refused: a pipe might never end.
        what: what the file should be, with its article.

    """
    if not path.is_file():
        raise DatasetError(
            f"{path} must be a file, got {'a folder' if path.is_dir() else 'no plain file'}"
            if path.exists()
            else f"{path} does not exist"
        )
    try:
        yield
    except DatasetError:
        raise
    except PermissionError as problem:
        raise DatasetError(f"{path} cannot be read: {problem.strerror}") from None
    # Damage has as many classes as the libraries below have ways to fail: BadZipFile, zlib.error, EOFError,
    # OverflowError, MemoryError, struct.error, SyntaxError, ...
    except Exception as problem:
        said = one_line(str(problem)) or type(problem).__name__
        raise DatasetError(f"{path} cannot be read as {what} (cut short or damaged?): {said}") from None


def one_line(text: str) -> str:
    r"""Make text from a file safe for a one-line message: short, and without control characters.

    >>> one_line("a\n\n b\x1b[31m")
    'a b?[31m'
    """
    line = " ".join(text.split())[:_LONGEST]
    return "".join(letter if letter.isprintable() else "?" for letter in line)


def check_size(where: str, announced: int, shape: tuple[int, ...], found: int) -> None:
    """Require as many bytes as a header announces."""
    if announced != found:
        said = one_line(f"{announced} bytes of shape {shape}")
        raise DatasetError(f"{where} is cut short or damaged: its header announces {said}, got {found}")


def check_unpacked(path: Path, size: int) -> None:
    """Refuse a packed file that announces far more bytes than it has, before they are allocated."""
    most = max(_FREE, _TIMES * path.stat().st_size)
    if size > most:
        raise DatasetError(
            f"{path} was not opened: it announces {one_line(str(size))} bytes, of at most {most} for its size"
        )
