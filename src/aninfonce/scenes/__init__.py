"""Scenes of 3DIdent and Causal3DIdent: drawn on demand, written and read in the released layout, in pairs."""

from aninfonce.scenes.layout import LATENTS
from aninfonce.scenes.renderer import SceneRenderer, can_render
from aninfonce.scenes.shapes import SHAPES, shape_mesh
from aninfonce.scenes.sheet import contact_sheet

__all__ = ["LATENTS", "SHAPES", "SceneRenderer", "can_render", "contact_sheet", "shape_mesh"]
