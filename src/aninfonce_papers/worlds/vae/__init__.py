"""Models that make images of latents, and processes that look through them."""

from aninfonce.extending import attach

__getattr__, __dir__, __all__ = attach(__name__)
