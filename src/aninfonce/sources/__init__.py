"""Pairs for training: from processes, arrays, loaders and sequences, in an order that can be resumed."""

from aninfonce._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
