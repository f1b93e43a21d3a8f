"""Data generating processes: pairs whose causes are known."""

from aninfonce._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
