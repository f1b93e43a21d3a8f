"""Lets the site show what a stub gives out, as `aninfonce._lazy` reads it."""

from pathlib import Path
from typing import Any

import griffe


class StubExports(griffe.Extension):
    """Takes every name that the stub of a package imports for a public one."""

    def on_module_members(self, *, mod: griffe.Module, **_: Any) -> None:
        """Stand in for the `__all__` that is made when the package is imported."""
        if isinstance(mod.filepath, Path) and mod.filepath.suffix == ".pyi":
            mod.exports = [name for name, member in mod.members.items() if member.is_alias]
