"""Every table and figure by name: grids, values to compare with, sweeps that can be stopped and resumed."""

from aninfonce.extending import attach

__getattr__, __dir__, __all__ = attach(__name__)
