"""Pickled arrays, read by an interpreter that calls nothing and knows only the opcodes such files need."""

from __future__ import annotations

import codecs
import mmap
import pickletools
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
    """Read dicts, lists, numbers, texts and arrays; anything else in the file is refused, never called.

    Time and memory are bounded by the size of the file: each list or dict may appear only once, and all
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


# Steps of pickle, by the names that `pickletools` has for them, which also reads what follows their codes.
_STEPS = {step.code.encode("latin1"): step for step in pickletools.opcodes}
_PUTS, _GETS = ("PUT", "BINPUT", "LONG_BINPUT"), ("GET", "BINGET", "LONG_BINGET")
_NUMBERS = ("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT")
_TEXTS = ("UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8")
_BYTES = ("SHORT_BINBYTES", "BINBYTES", "BINBYTES8", "BYTEARRAY8")
_TEXTS_OF_PYTHON_2 = ("SHORT_BINSTRING", "BINSTRING")
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_TUPLES = {"EMPTY_TUPLE": 0, "TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_CLOSE_A_MARK = ("LIST", "TUPLE", "DICT", "APPENDS", "SETITEMS", "POP_MARK")


class _Machine:
    """The stack machine of pickle without its calls."""

    def __init__(self, path: Path, content: mmap.mmap, kinds: Collection[str]) -> None:
        self._path, self._kinds = path, kinds
        # Read as a file by pickletools, whose types know no maps of memory.
        self._content: Any = content
        self._stack: list[Any] = []
        self._below: list[list[Any]] = []
        self._memo: dict[int, Any] = {}
        self._seen: set[int] = set()
        # Each byte of an array may be made twice: Python 3 wrote bytes of protocol 2 as a text to encode.
        self._left = 2 * len(content)

    def run(self) -> Any:
        """Take all steps."""
        for _ in range(_MOST_STEPS):
            step = _STEPS.get(self._content.read(1))
            if step is None:
                raise ValueError("it ends early, or takes a step that pickle does not know")
            if step.name == "STOP":
                return self._plain(self._stack.pop(), _DEEPEST)
            self._step(step.name, self._argument(step))
        raise self._refusal(f"takes more than {_MOST_STEPS} steps")

    def _refusal(self, why: str) -> DatasetError:
        return DatasetError(f"{self._path} was not opened: it {why}, which no file of arrays needs")

    def _argument(self, step: pickletools.OpcodeInfo) -> Any:
        if step.name == "STRING":
            # pickletools would allow ASCII only.
            quoted = pickletools.read_stringnl(self._content, decode=False)
            return codecs.escape_decode(quoted)[0]
        return None if step.arg is None else step.arg.reader(self._content)

    def _put(self, place: int) -> None:
        # Python numbers them from 0; numbers chosen freely could all have one hash.
        if place > _MOST_STEPS:
            raise ValueError(f"a place of the memo must be at most {_MOST_STEPS}")
        self._memo[place] = self._stack[-1]

    def _charge(self, size: int) -> None:
        """Count bytes that are made; an honest file holds all of them."""
        self._left -= size
        if self._left < 0:
            raise self._refusal(f"makes far more than the {len(self._content)} bytes that it has")

    def _step(self, name: str, argument: Any) -> None:
        stack = self._stack
        if name in _NUMBERS or name in _TEXTS or name == "STRING":
            stack.append(argument)
        elif name in _PUTS:
            self._put(argument)
        elif name in _GETS:
            stack.append(self._memo[argument])
        elif name == "MEMOIZE":
            self._put(len(self._memo))
        elif name in _BYTES:
            stack.append(bytes(argument))
        elif name in _TEXTS_OF_PYTHON_2:
            stack.append(argument.encode("latin1"))
        elif name in _TUPLES:
            stack.append(tuple(stack.pop() for _ in range(_TUPLES[name]))[::-1])
        elif name in _CONSTANTS:
            stack.append(_CONSTANTS[name])
        elif name == "MARK":
            self._below.append(stack)
            self._stack = []
        elif name in _CLOSE_A_MARK:
            self._close_mark(name)
        elif name == "POP":
            stack.pop()
        elif name == "PROTO":
            if argument > _NEWEST:
                raise ValueError(f"its protocol is newer than {_NEWEST}")
        # A frame is a part that could be read at once.
        elif name != "FRAME":
            self._build(name, argument)

    def _close_mark(self, name: str) -> None:
        """Do something with all that was put on the stack since a mark."""
        entries, self._stack = self._stack, self._below.pop()
        if name == "LIST":
            self._stack.append(entries)
        elif name == "TUPLE":
            self._stack.append(tuple(entries))
        elif name == "DICT":
            self._stack.append({})
            self._set(entries)
        elif name == "SETITEMS":
            self._set(entries)
        elif name == "APPENDS":
            self._list().extend(entries)

    def _build(self, step: str, argument: Any) -> None:
        """Make lists, dicts and what stands for arrays."""
        stack = self._stack
        if step == "EMPTY_LIST":
            stack.append([])
        elif step == "EMPTY_DICT":
            stack.append({})
        elif step == "APPEND":
            entry = stack.pop()
            self._list().append(entry)
        elif step == "SETITEM":
            entry, key = stack.pop(), stack.pop()
            self._set([key, entry])
        elif step in ("GLOBAL", "INST"):
            stack.append(self._name(*argument.split(" ", 1)))
        elif step == "STACK_GLOBAL":
            name, module = stack.pop(), stack.pop()
            stack.append(self._name(module, name))
        elif step == "REDUCE":
            arguments, name = stack.pop(), stack.pop()
            stack.append(self._made(name, *arguments))
        elif step == "BUILD":
            self._set_state(stack.pop(), stack[-1])
        else:
            raise ValueError(f"step {step} is none of a file of arrays")

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
