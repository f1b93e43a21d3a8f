"""Recover the hidden factors behind paired data by contrastive learning.

The loss alone: `AnInfoNCE`. Paired rows or a recording: `ContrastiveICA`. What an encoder kept and lost:
`audit`. Data with known causes: `process("fig2/25")`. How well they were recovered: `aninfonce.metrics`. The
design is one page: docs/design.md.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aninfonce import functional
    from aninfonce.diagnostics import audit
    from aninfonce.estimator import ContrastiveICA
    from aninfonce.losses import (
        AnInfoNCE,
        EnsembleAnInfoNCE,
        InfoNCE,
        LpInfoNCE,
        NTXent,
        SpectralContrastive,
        TriCL,
    )
    from aninfonce.processes import DataGeneratingProcess, PairBatch, optimal_loss, process
    from aninfonce.spaces import Box, Euclidean, Sphere

__version__ = "0.1.0"

__all__ = [
    "AnInfoNCE",
    "Box",
    "ContrastiveICA",
    "DataGeneratingProcess",
    "EnsembleAnInfoNCE",
    "Euclidean",
    "InfoNCE",
    "LpInfoNCE",
    "NTXent",
    "PairBatch",
    "SpectralContrastive",
    "Sphere",
    "TriCL",
    "audit",
    "functional",
    "optimal_loss",
    "process",
]

# Where the names above live. They are imported when first used: `aninfonce --help` need not wait for torch.
_HOMES = {
    "diagnostics": ("audit",),
    "estimator": ("ContrastiveICA",),
    "losses": (
        "AnInfoNCE",
        "EnsembleAnInfoNCE",
        "InfoNCE",
        "LpInfoNCE",
        "NTXent",
        "SpectralContrastive",
        "TriCL",
    ),
    "processes": ("DataGeneratingProcess", "PairBatch", "optimal_loss", "process"),
    "spaces": ("Box", "Euclidean", "Sphere"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name == "functional":
        return import_module("aninfonce.functional")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'aninfonce' has no attribute {name!r}")
    value = getattr(import_module(f"aninfonce.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
