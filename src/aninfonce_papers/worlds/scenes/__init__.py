"""Scenes of 3DIdent and Causal3DIdent: drawn on demand, written and read in the released layout, in pairs."""

from aninfonce.extending import attach

__getattr__, __dir__, __all__ = attach(__name__)
