"""Recover the hidden factors behind paired data by contrastive learning.

The loss alone: `AnInfoNCE`. Data with known causes: `process("fig2/25")`. How well they were
recovered: `aninfonce.metrics`. The design is one page: docs/design.md.
"""

from aninfonce import functional
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
    "functional",
    "optimal_loss",
    "process",
]
