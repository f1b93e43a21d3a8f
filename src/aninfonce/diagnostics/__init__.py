"""What a model kept and lost, and which assumption the data break."""

from aninfonce._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
