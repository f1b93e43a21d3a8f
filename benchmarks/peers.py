"""How to reach the losses of other libraries."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType


def lightly_loss_module() -> ModuleType | None:
    """Give the module of lightly's NT-Xent, or None if lightly is not installed.

    Importing lightly brings in torchvision. Its NT-Xent does not use it: where torchvision is missing,
    the packages above the loss are entered without running their `__init__`, and `lightly.models.utils`,
    which the loss's module imports but does not call without a memory bank, is left empty.
    """
    name = "lightly.loss.ntx_ent_loss"
    if name not in sys.modules:
        if importlib.util.find_spec("lightly") is None:
            return None
        if importlib.util.find_spec("torchvision") is None:
            _enter_bare_packages()
    return importlib.import_module(name)


def _enter_bare_packages() -> None:
    spec = importlib.util.find_spec("lightly")
    if spec is None or spec.submodule_search_locations is None:
        return
    root = Path(next(iter(spec.submodule_search_locations)))
    for name in ("lightly", "lightly.loss", "lightly.models", "lightly.models.modules", "lightly.utils"):
        package = sys.modules[name] = ModuleType(name)
        package.__path__ = [str(root.joinpath(*name.split(".")[1:]))]
    utilities = sys.modules["lightly.models.utils"] = ModuleType("lightly.models.utils")
    vars(sys.modules["lightly.models"])["utils"] = utilities
