"""Recover the hidden factors behind paired data by contrastive learning.

The loss alone: `AnInfoNCE`. Paired rows or a recording: `ContrastiveICA`. What an encoder kept and lost:
`audit`. Data with known causes: `process("fig2/25")`. How well they were recovered: `aninfonce.metrics`. The
design is one page: docs/design.md.
"""

from aninfonce._lazy import attach

__version__ = "0.2.0"

__getattr__, __dir__, __all__ = attach(__name__)
