"""What people look at: figures of arrays, and a page on which an embedding can be turned."""

from aninfonce._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
