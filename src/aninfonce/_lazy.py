"""Packages whose names are imported when they are first used.

The names of such a package stand once, in the stub `__init__.pyi` beside its `__init__.py`: type checkers and
editors read it as they read any stub, and `attach` reads where each name lives.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any


def attach(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Make what a lazy package needs: its `__getattr__`, `__dir__` and `__all__`.

    Example:
        >>> import aninfonce
        >>> "AnInfoNCE" in aninfonce.__all__, aninfonce.AnInfoNCE.__module__
        (True, 'aninfonce.losses.modules')

    Args:
        package: its `__name__`.

    Returns:
        To be assigned in its `__init__.py`.

    """
    module = sys.modules[package]
    assert module.__file__ is not None
    homes = _homes(Path(module.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))

    class LazyPackage(ModuleType):
        def __setattr__(self, name: str, value: object) -> None:
            # Importing `datasets/fetch.py` binds the module as `datasets.fetch`, which is a function's name.
            if not (isinstance(value, ModuleType) and homes.get(name, package) != package):
                super().__setattr__(name, value)

        def __reduce__(self) -> tuple[Callable[[str], ModuleType], tuple[str]]:
            # A notebook's functions go to workers with the modules that they use: by name, as any module.
            return import_module, (package,)

    module.__class__ = LazyPackage

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if homes[name] == package:
            return import_module(f"{package}.{name}")
        value = getattr(import_module(homes[name]), name)
        setattr(module, name, value)
        return value

    return get, lambda: sorted({*vars(module), *homes}), sorted(homes)


def _homes(stub: str) -> dict[str, str]:
    """Give the module that each name is imported from; that of a public module is the package itself."""
    return {
        alias.name: node.module
        for node in ast.parse(stub).body
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for alias in node.names
    }
