"""Fits on a frozen embedding: its space, the directions that are factors, and how strongly each varies."""

from aninfonce._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
