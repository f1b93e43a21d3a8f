"""From pairs to recovered factors: recipe, loop, checkpoints and the closing fits."""

from aninfonce._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
