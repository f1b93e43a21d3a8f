"""What is drawn in a space: every density that the papers use, sampled exactly."""

from aninfonce._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
