"""From observations to embeddings: encoders and the heads that say where an embedding lives.

Any `nn.Module` from observations to (N, d) is an encoder; those here have names and tested defaults.
"""

from aninfonce._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
