"""How well the hidden factors were recovered, and what an embedding is good for.

Pure functions of arrays or tensors; each answers with a number or a small frozen result that flags
degenerate input instead of turning into NaN. `docs/metrics.md` says which one to read when.
"""

from aninfonce._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
