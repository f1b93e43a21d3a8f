"""Augmentations of images, batched and seeded, and pairs made with them."""

from aninfonce._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
