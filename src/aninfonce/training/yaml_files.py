"""Small YAML files, read in bounded time and memory whatever they hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from aninfonce._validation import brief

# Settings take a page or two, but a few lines of aliases can stand for more values than fit into memory.
_MOST_BYTES = 100_000
_MOST_VALUES = 10_000


def read_yaml(path: Path) -> Any:
    """Read a YAML (or JSON) file; nothing in it is executed.

    Args:
        path: the file.

    Returns:
        What it holds, in Python's own types. A `ValueError` says why a file cannot be read.

    """
    try:
        with path.open("rb") as file:
            raw = file.read(_MOST_BYTES + 1)
    except OSError as problem:
        raise ValueError(f"cannot read {path}: {problem.strerror or problem}") from None
    if len(raw) > _MOST_BYTES:
        raise ValueError(f"{path} must be a file of settings, of at most {_MOST_BYTES} bytes; it is larger")
    try:
        loader = yaml.SafeLoader(raw.decode("utf-8"))
        node = loader.get_single_node()
        _count(node, {}, path)
        _check_keys(node, set())
        return None if node is None else loader.construct_document(node)
    except yaml.YAMLError as problem:
        raise ValueError(f"{path} is not valid YAML: {problem}") from None
    except RecursionError:
        raise ValueError(f"{path} is nested too deeply") from None
    except _TooMuch:
        raise
    # Numbers and dates that Python cannot represent.
    except (ValueError, OverflowError) as problem:
        raise ValueError(f"{path} cannot be read: {problem}") from None


def _check_keys(node: Any, seen: set[int]) -> None:
    """Refuse a name that is given twice: YAML's readers take the last, and say nothing."""
    if not isinstance(node, yaml.CollectionNode) or id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        lines: dict[str, int] = {}
        for key, _ in node.value:
            # The merge key << may stand there several times.
            if isinstance(key, yaml.ScalarNode) and key.value != "<<":
                line = key.start_mark.line + 1
                if key.value in lines:
                    name = brief(key.value)
                    raise ValueError(f"{name} is given twice, in lines {lines[key.value]} and {line}")
                lines[key.value] = line
    for part in _parts(node):
        _check_keys(part, seen)


class _TooMuch(ValueError):
    pass


def _parts(node: yaml.CollectionNode) -> list[Any]:
    """List what a collection holds: names and values of a mapping."""
    is_mapping = isinstance(node, yaml.MappingNode)
    return [part for pair in node.value for part in pair] if is_mapping else list(node.value)


def _count(node: Any, known: dict[int, int], path: Path) -> int:
    """Count the values below a node, each alias for all that it stands for."""
    if not isinstance(node, yaml.CollectionNode):
        return 1
    if id(node) not in known:
        # Until it is counted, so that a collection that contains itself is refused rather than followed.
        known[id(node)] = _MOST_VALUES
        known[id(node)] = 1 + sum(_count(part, known, path) for part in _parts(node))
    if known[id(node)] > _MOST_VALUES:
        raise _TooMuch(f"{path} must hold at most {_MOST_VALUES} values; its aliases stand for more")
    return known[id(node)]
