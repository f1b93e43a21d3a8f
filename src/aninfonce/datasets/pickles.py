"""Pickled arrays, read without executing anything."""

from __future__ import annotations

import pickle
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from aninfonce.datasets.images import DatasetError


def read_pickle(path: Path, what: str, kinds: Collection[str]) -> Any:
    """Read dicts, lists, numbers, texts and arrays; whatever else is in the file is refused, not called.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder) / "file"
        ...     _ = path.write_bytes(pickle.dumps({"a": [np.arange(3, dtype=np.uint8)]}))
        ...     read_pickle(path, "file of mine", ["u1"])
        {'a': [array([0, 1, 2], dtype=uint8)]}

    Args:
        path: of the file.
        what: it should be, for errors.
        kinds: of numbers that arrays may hold, as numpy abbreviates them, such as "u1".

    Returns:
        The content; texts of Python 2 are bytes.

    """
    try:
        with path.open("rb") as file:
            return _plain(_ArrayUnpickler(file, encoding="bytes").load(), kinds)
    except DatasetError as problem:
        raise DatasetError(f"{path} {problem}") from None
    except OSError as problem:
        raise DatasetError(f"{path} cannot be read: {problem.strerror or problem}") from None
    # A damaged pickle can fail in as many ways as there are opcodes.
    except Exception as problem:
        raise DatasetError(f"{path} is no {what}, cut short or damaged: {problem!r}") from None


def as_text(value: str | bytes) -> str:
    """Read a text, which Python 2 pickled as bytes."""
    return value.decode("latin1") if isinstance(value, bytes) else value


class _Kind:
    """Stands in for numpy's dtype."""

    def __init__(self, name: str | bytes, *_: Any) -> None:
        self.name = as_text(name)
        self.order = "<"

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.order = as_text(state[1])


class _Array:
    """Stands in for numpy's array while it is unpickled."""

    def __init__(self, *_: Any) -> None:
        self.state: tuple[Any, ...] = ()

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.state = state

    def array(self, kinds: Collection[str]) -> npt.NDArray[Any]:
        """Make the array, if it is of a kind that is wanted."""
        _, shape, kind, fortran, content = self.state
        if kind.name not in kinds:
            raise DatasetError(
                f"must hold arrays of {' or '.join(map(repr, kinds))}, got one of {kind.name!r}"
            )
        order = ">" if kind.order == ">" else "<"
        values = np.frombuffer(content, dtype=np.dtype(kind.name).newbyteorder(order))
        values = values.astype(kind.name, copy=False)
        return values.reshape(shape, order="F" if fortran else "C")


def _from_buffer(content: Any, kind: Any, shape: Any, order: Any) -> _Array:
    """Arrays of pickle protocol 5."""
    array = _Array()
    array.__setstate__((1, shape, kind, as_text(order) == "F", content))
    return array


def _encode(text: str, encoding: str | bytes) -> bytes:
    if as_text(encoding) != "latin1":
        raise DatasetError(f"must encode bytes as latin1, got {encoding!r}")
    return text.encode("latin1")


def _plain(value: Any, kinds: Collection[str]) -> Any:
    """Put arrays in the place of their stand-ins."""
    if isinstance(value, _Array):
        return value.array(kinds)
    if isinstance(value, dict):
        return {key: _plain(entry, kinds) for key, entry in value.items()}
    if isinstance(value, list):
        return [_plain(entry, kinds) for entry in value]
    if value is None or isinstance(value, bool | int | float | str | bytes):
        return value
    raise DatasetError(f"must hold dicts, lists and arrays, got {type(value).__name__}")


class _ArrayUnpickler(pickle.Unpickler):
    """Knows the few names that pickled arrays use, each as a harmless stand-in."""

    _KNOWN: dict[tuple[str, str], Any] = {  # noqa: RUF012  (never changed)
        ("numpy.core.multiarray", "_reconstruct"): _Array,
        ("numpy._core.multiarray", "_reconstruct"): _Array,
        ("numpy.core.numeric", "_frombuffer"): _from_buffer,
        ("numpy._core.numeric", "_frombuffer"): _from_buffer,
        ("numpy", "ndarray"): _Array,
        ("numpy", "dtype"): _Kind,
        ("_codecs", "encode"): _encode,
    }

    def find_class(self, module: str, name: str) -> Any:
        """Refuse whatever is not known."""
        if (module, name) not in self._KNOWN:
            raise DatasetError(
                f"was not opened: it asks to call {module}.{name}, which no file of arrays needs"
            )
        return self._KNOWN[module, name]
