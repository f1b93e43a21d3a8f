"""Pickled arrays, read by a machine that calls nothing and knows only the opcodes such files need."""

from __future__ import annotations

import codecs
import mmap
import struct
from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from aninfonce.datasets.images import DatasetError
from aninfonce.datasets.reading import one_line, reading

# A batch of CIFAR-10 takes 40 000 steps, KITTI Masks 130 000.
_MOST_STEPS = 2_000_000
_DEEPEST = 20
_NEWEST = 5


def read_pickle(path: Path, what: str, kinds: Collection[str]) -> Any:
    """Read dicts, lists, numbers, texts and arrays; whatever else is in the file is refused, not called.

    Time and memory are bounded by the size of the file: each list or dict may be in one place only, and all
    arrays together may not be much larger than the file.

    Example:
        >>> import pickle
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder) / "file"
        ...     _ = path.write_bytes(pickle.dumps({"a": [np.arange(3, dtype=np.uint8)]}))
        ...     read_pickle(path, "file of mine", ["u1"])
        {'a': [array([0, 1, 2], dtype=uint8)]}

    Args:
        path: of the file.
        what: what the file should be, for error messages.
        kinds: allowed kinds of numbers, as numpy abbreviates them, such as "u1".

    Returns:
        The content; texts of Python 2 are bytes.

    """
    with (
        reading(path, f"a {what}"),
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        return _Machine(path, content, kinds).run()


def as_text(value: str | bytes) -> str:
    """Read a text, which Python 2 pickled as bytes."""
    return value.decode("latin1") if isinstance(value, bytes) else value


class _Name(Enum):
    """What a file of arrays refers to by name."""

    ARRAY = auto()
    ARRAY_OF_BUFFER = auto()
    ARRAY_TYPE = auto()
    KIND = auto()
    ENCODE = auto()


_NAMES = {
    "numpy.core.multiarray._reconstruct": _Name.ARRAY,
    "numpy._core.multiarray._reconstruct": _Name.ARRAY,
    "numpy.core.numeric._frombuffer": _Name.ARRAY_OF_BUFFER,
    "numpy._core.numeric._frombuffer": _Name.ARRAY_OF_BUFFER,
    "numpy.ndarray": _Name.ARRAY_TYPE,
    "numpy.dtype": _Name.KIND,
    "_codecs.encode": _Name.ENCODE,
}


@dataclass(eq=False)
class _Kind:
    """Stands for numpy's dtype."""

    name: str
    order: str = "<"


@dataclass(eq=False)
class _Array:
    """Stands for numpy's array until all is read."""

    state: tuple[Any, ...] = ()


# Steps of pickle by their codes. Those with a content are followed by its length in so many bytes,
_TEXTS = {b"\x8c": 1, b"X": 4, b"\x8d": 8}
_BYTES = {b"U": 1, b"T": 4, b"C": 1, b"B": 4, b"\x8e": 8, b"\x96": 8}
_LONGS = {b"\x8a": 1, b"\x8b": 4}
# others by so many bytes of a number.
_NUMBERS = {b"K": "<B", b"M": "<H", b"J": "<i", b"G": ">d"}
_PUTS = {b"q": 1, b"r": 4}
_GETS = {b"h": 1, b"j": 4}
_CONSTANTS = {b"N": None, b"\x88": True, b"\x89": False}
_TUPLES = {b")": 0, b"\x85": 1, b"\x86": 2, b"\x87": 3}


class _Machine:
    """The stack machine of pickle without its calls."""

    def __init__(self, path: Path, content: mmap.mmap, kinds: Collection[str]) -> None:
        self._path, self._content, self._kinds = path, content, kinds
        self._at = 0
        self._stack: list[Any] = []
        self._below: list[list[Any]] = []
        self._memo: dict[int, Any] = {}
        self._seen: set[int] = set()
        # Each byte of an array may be made twice: Python 3 wrote bytes of protocol 2 as a text to encode.
        self._left = 2 * len(content)

    def run(self) -> Any:
        """Take all steps."""
        for _ in range(_MOST_STEPS):
            code = self._take(1)
            if code == b".":
                return self._plain(self._stack.pop(), _DEEPEST)
            self._step(code)
        raise self._refusal(f"takes more than {_MOST_STEPS} steps")

    def _refusal(self, why: str) -> DatasetError:
        return DatasetError(f"{self._path} was not opened: it {why}, which no file of arrays needs")

    def _take(self, length: int) -> bytes:
        part = self._content[self._at : self._at + length]
        if len(part) < length:
            raise EOFError(f"{length} bytes were expected, got {len(part)}")
        self._at += length
        return part

    def _number(self, width: int) -> int:
        return int.from_bytes(self._take(width), "little")

    def _line(self) -> bytes:
        end = self._content.find(b"\n", self._at)
        if end < 0:
            raise EOFError("a line has no end")
        return self._take(end + 1 - self._at)[:-1]

    def _put(self, place: int) -> None:
        # Python counts them; numbers chosen at will could all have one hash.
        if place > _MOST_STEPS:
            raise ValueError(f"a place of the memo must be at most {_MOST_STEPS}")
        self._memo[place] = self._stack[-1]

    def _charge(self, size: int) -> None:
        """Count bytes that are made; an honest file has all of them."""
        self._left -= size
        if self._left < 0:
            raise self._refusal(f"makes far more than the {len(self._content)} bytes that it has")

    def _step(self, code: bytes) -> None:
        stack = self._stack
        if code in _NUMBERS:
            form = _NUMBERS[code]
            stack.append(struct.unpack(form, self._take(struct.calcsize(form)))[0])
        elif code in _PUTS:
            self._put(self._number(_PUTS[code]))
        elif code in _GETS:
            stack.append(self._memo[self._number(_GETS[code])])
        elif code == b"\x94":
            self._put(len(self._memo))
        elif code in _TEXTS:
            stack.append(self._take(self._number(_TEXTS[code])).decode("utf-8", "surrogatepass"))
        elif code in _BYTES:
            stack.append(self._take(self._number(_BYTES[code])))
        elif code in _TUPLES:
            stack.append(tuple(stack.pop() for _ in range(_TUPLES[code]))[::-1])
        elif code in _CONSTANTS:
            stack.append(_CONSTANTS[code])
        elif code == b"\x80":
            if self._number(1) > _NEWEST:
                raise ValueError(f"its protocol is newer than {_NEWEST}")
        elif code == b"\x95":
            # The length of a part that could be read at once.
            self._take(8)
        elif code in _LONGS:
            stack.append(int.from_bytes(self._take(self._number(_LONGS[code])), "little", signed=True))
        elif code == b"(":
            self._below.append(stack)
            self._stack = []
        elif code in b"ldtue01":
            self._collect(code)
        elif code in b"ILFSVpg":
            self._read_line(code)
        else:
            self._build(code)

    def _collect(self, code: bytes) -> None:
        """Close what was opened by a mark, or take from the top."""
        if code == b"0":
            self._stack.pop()
            return
        entries, self._stack = self._stack, self._below.pop()
        if code == b"l":
            self._stack.append(entries)
        elif code == b"t":
            self._stack.append(tuple(entries))
        elif code == b"d":
            self._stack.append({})
            self._set(entries)
        elif code == b"u":
            self._set(entries)
        elif code == b"e":
            self._list().extend(entries)

    def _read_line(self, code: bytes) -> None:
        """Read what protocol 0 writes as text."""
        line = self._line()
        if code == b"p":
            self._put(int(line))
        elif code == b"g":
            self._stack.append(self._memo[int(line)])
        elif code == b"I":
            self._stack.append(line == b"01" if line in (b"00", b"01") else int(line))
        elif code == b"L":
            self._stack.append(int(line.removesuffix(b"L")))
        elif code == b"F":
            self._stack.append(float(line))
        elif code == b"S":
            self._stack.append(codecs.escape_decode(line.strip()[1:-1])[0])
        else:
            self._stack.append(line.decode("raw-unicode-escape"))

    def _build(self, code: bytes) -> None:
        """Make lists, dicts and what stands for arrays."""
        stack = self._stack
        if code == b"]":
            stack.append([])
        elif code == b"}":
            stack.append({})
        elif code == b"a":
            entry = stack.pop()
            self._list().append(entry)
        elif code == b"s":
            entry, key = stack.pop(), stack.pop()
            self._set([key, entry])
        elif code in b"ci":
            stack.append(self._name(self._line(), self._line()))
        elif code == b"\x93":
            name, module = stack.pop(), stack.pop()
            stack.append(self._name(module, name))
        elif code == b"R":
            arguments, name = stack.pop(), stack.pop()
            stack.append(self._made(name, *arguments))
        elif code == b"b":
            self._set_state(stack.pop(), stack[-1])
        else:
            raise ValueError(f"step {code!r} is none of a file of arrays")

    def _list(self) -> list[Any]:
        if not isinstance(self._stack[-1], list):
            raise ValueError("only lists can be added to")
        return self._stack[-1]

    def _set(self, entries: list[Any]) -> None:
        target = self._stack[-1]
        keys = entries[::2]
        # Nested tuples can take forever to hash, and numbers can be chosen to have one hash.
        if not isinstance(target, dict) or not all(isinstance(key, str | bytes) for key in keys):
            raise ValueError("only dicts have entries, and only by texts")
        target.update(zip(keys, entries[1::2], strict=True))

    def _name(self, module: str | bytes, name: str | bytes) -> _Name:
        if not isinstance(module, str | bytes) or not isinstance(name, str | bytes):
            raise ValueError("a name must be a text")
        full = f"{as_text(module)}.{as_text(name)}"
        if full not in _NAMES:
            raise self._refusal(f"asks to call {one_line(full)}")
        return _NAMES[full]

    def _made(self, name: Any, *arguments: Any) -> _Array | _Kind | bytes:
        if name is _Name.ARRAY:
            return _Array()
        if name is _Name.ARRAY_OF_BUFFER:
            content, kind, shape, order = arguments
            return _Array((1, shape, kind, order in ("F", b"F"), content))
        if name is _Name.KIND and isinstance(arguments[0], str | bytes):
            return _Kind(as_text(arguments[0]))
        if name is _Name.ENCODE:
            text, encoding = arguments
            if isinstance(text, str) and encoding in ("latin1", b"latin1"):
                self._charge(len(text))
                return text.encode("latin1")
        raise ValueError("what it calls is no array, no dtype and no encoding of bytes")

    def _set_state(self, state: Any, target: Any) -> None:
        if isinstance(target, _Array) and isinstance(state, tuple):
            target.state = state
        elif isinstance(target, _Kind) and isinstance(state, tuple) and state[1] in (">", b">"):
            target.order = ">"
        elif not isinstance(target, _Kind):
            raise ValueError("only arrays and dtypes have a state")

    def _plain(self, value: Any, depth: int) -> Any:
        """Put arrays in the place of what stands for them."""
        if value is None or isinstance(value, bool | int | float | str | bytes):
            return value
        if isinstance(value, _Array):
            return self._array(*value.state)
        if not isinstance(value, dict | list):
            raise DatasetError(
                f"{self._path} must hold dicts, lists and arrays, got {type(value).__name__.lstrip('_')}"
            )
        if not depth or id(value) in self._seen:
            raise self._refusal("holds lists in themselves, in two places, or nested too deeply")
        self._seen.add(id(value))
        if isinstance(value, list):
            return [self._plain(entry, depth - 1) for entry in value]
        return {key: self._plain(entry, depth - 1) for key, entry in value.items()}

    def _array(self, _: Any, shape: Any, kind: _Kind, fortran: Any, content: Any) -> npt.NDArray[Any]:
        """Make an array, if it is of a kind that is wanted."""
        if kind.name not in self._kinds:
            raise DatasetError(
                f"{self._path} must hold arrays of {' or '.join(map(repr, self._kinds))}, got one of"
                f" {kind.name[:20]!r}"
            )
        if not isinstance(content, bytes) or not all(type(side) is int and side >= 0 for side in shape):
            raise ValueError("an array has no bytes or no shape")
        self._charge(len(content))
        values = np.frombuffer(content, dtype=np.dtype(kind.name).newbyteorder(kind.order))  # type: ignore[arg-type]
        return values.astype(kind.name, copy=False).reshape(shape, order="F" if fortran else "C")
