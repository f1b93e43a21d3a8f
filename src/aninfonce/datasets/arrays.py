"""Numbers in files: nothing is executed, and no more memory is allocated than the file can fill."""

from __future__ import annotations

import math
import re
import zipfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from aninfonce.datasets.images import DatasetError
from aninfonce.datasets.reading import check_size, check_unpacked, one_line, reading
from aninfonce.datasets.table_files import TABLES, read_table

Array = npt.NDArray[Any]

NUMBERS = "biuf"
"""numpy's letters for booleans, signed and unsigned whole numbers, and floating-point numbers."""

_MAGIC = b"\x93NUMPY"
_WHAT = "numeric arrays"
_BLOCK = 1 << 20
# Numpy writes 128 bytes for an array of numbers.
_LONGEST_HEADER = 4096
_ENTRY = (
    rb"""\s*+['"](?:"""
    rb"""descr['"]\s*+:\s*+(?:['"](?P<kind>[^'"]*+)['"]|(?P<fields>\[[^\]]*+\]))|"""
    rb"""fortran_order['"]\s*+:\s*+(?P<fortran>True|False)|"""
    # Python 2 wrote 3L for 3.
    rb"""shape['"]\s*+:\s*+\((?P<shape>[\d\sL,]*+)\)"""
    rb""")\s*+,?+"""
)
_HEADER = re.compile(rb"\{(?:" + _ENTRY + rb"){3}\s*+\}\s*+")
_KIND = re.compile(r"[<>|=]?([a-zA-Z])[1-9]\d*")


def read_npy(path: Path, *, mapped: bool = False) -> Array:
    """Read one array of numbers.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     np.save(Path(folder) / "x.npy", np.arange(3))
        ...     read_npy(Path(folder) / "x.npy")
        array([0, 1, 2])

    Args:
        path: of an .npy file.
        mapped: leave it on disk, read-only, until it is used.

    Returns:
        The array, as it was saved.

    """
    with reading(path, _WHAT), path.open("rb") as file:
        if file.read(2) == b"PK":
            raise DatasetError(f"{path} is an .npz file under another name: rename it")
        file.seek(0)
        header = _read_header(file, str(path), NUMBERS)
        check_size(str(path), header.size, header.shape, path.stat().st_size - file.tell())
        if not mapped or not header.size:
            return header.fill(file)
        order = "F" if header.fortran else "C"
        return np.memmap(path, header.dtype, "r", file.tell(), header.shape, order)  # type: ignore[call-overload, no-any-return]


def read_npz(path: Path, names: Collection[str] | None = None, *, kinds: str = NUMBERS) -> dict[str, Array]:
    """Read the arrays of an .npz file by name, or those of some names.

    Args:
        path: of the file.
        names: arrays to read, where they exist; all if omitted.
        kinds: allowed kinds of numbers, as numpy abbreviates them; "U" is text.

    """
    with _archive(path) as (archive, members):
        wanted = {name: info for name, info in members.items() if names is None or name in names}
        check_unpacked(path, sum(info.file_size for info in wanted.values()))
        return {
            name: _read_member(archive, info, f"array `{name}` of {path}", kinds)
            for name, info in wanted.items()
        }


def read_named(path: Path, names: Collection[str] | None = None) -> dict[str, Array]:
    """Read arrays by name, all or some, as the ending says: .npz, .csv, .parquet, or else .npy as `x`."""
    ending = path.suffix.lower()
    if ending == ".npz":
        return read_npz(path, names)
    arrays: dict[str, Array] = {**read_table(path)} if ending in TABLES else {"x": read_npy(path)}
    return {name: values for name, values in arrays.items() if names is None or name in names}


def list_arrays(path: Path) -> str:
    """Name the arrays of a file that `read_named` reads, in one line for an error."""
    if path.suffix.lower() in TABLES:
        return one_line(", ".join(sorted(read_table(path))))
    if path.suffix.lower() != ".npz":
        return "x"
    with _archive(path) as (_, members):
        return one_line(", ".join(sorted(members))) or "none"


@contextmanager
def _archive(path: Path) -> Iterator[tuple[zipfile.ZipFile, dict[str, zipfile.ZipInfo]]]:
    with reading(path, _WHAT):
        with path.open("rb") as file:
            if file.read(len(_MAGIC)) == _MAGIC:
                raise DatasetError(f"{path} is an .npy file under another name: rename it")
        with zipfile.ZipFile(path) as archive:
            yield archive, {info.filename.removesuffix(".npy"): info for info in archive.infolist()}


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, where: str, kinds: str) -> Array:
    # Other methods unpack without a bound, and numpy uses none of them.
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise DatasetError(f"{where} must be stored or deflated, got method {info.compress_type} of zip")
    with archive.open(info) as stream:
        header = _read_header(stream, where, kinds)
        check_size(where, header.size, header.shape, info.file_size - stream.tell())
        return header.fill(stream)


@dataclass(frozen=True)
class _Header:
    """What an array is, before any of it is read."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool

    @property
    def size(self) -> int:
        """Number of bytes, as an integer that cannot overflow, unlike numpy's."""
        return math.prod(self.shape) * self.dtype.itemsize

    def fill(self, stream: IO[bytes]) -> Array:
        """Read the numbers, and on to the end of the stream, where zip compares its checksum."""
        values: Array = np.empty(math.prod(self.shape), self.dtype)
        content = values.view(np.uint8)
        start = 0
        while part := stream.read(min(_BLOCK, len(content) - start) or 1):
            content[start : start + len(part)] = np.frombuffer(part, np.uint8)
            start += len(part)
        if start < len(content):
            raise EOFError(f"{len(content)} bytes were expected, got {start}")
        return values.reshape(self.shape, order="F" if self.fortran else "C")


def _read_header(stream: IO[bytes], where: str, kinds: str) -> _Header:
    start = stream.read(8)
    if start[:6] != _MAGIC or start[6:7] not in (b"\1", b"\2", b"\3"):
        raise DatasetError(f"{where} is no array of numpy: it starts with {start.hex() or 'nothing'}")
    length = int.from_bytes(stream.read(2 if start[6] == 1 else 4), "little")
    if length > _LONGEST_HEADER:
        raise DatasetError(
            f"{where} must have a header of at most {_LONGEST_HEADER} bytes, got one of {length}"
        )
    found = _HEADER.fullmatch(stream.read(length))
    if found is None or found["fortran"] is None or found["shape"] is None:
        raise DatasetError(f"{where} has a damaged header")
    kind = (found["kind"] or b"").decode("latin1")
    known = _KIND.fullmatch(kind)
    if known is None or known[1] not in kinds:
        got = "a structured array" if found["fields"] else f"the type {kind[:20]!r}"
        raise DatasetError(f"{where} must hold real numbers{' or text' if 'U' in kinds else ''}, got {got}")
    sides = found["shape"].replace(b"L", b"").split(b",")
    shape = tuple(int(side) for side in sides if side.strip())
    return _Header(np.dtype(kind), shape, found["fortran"] == b"True")
