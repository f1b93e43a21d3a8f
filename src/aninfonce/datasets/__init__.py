"""Real images, as uint8 arrays (N, C, H, W)."""

from aninfonce._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
