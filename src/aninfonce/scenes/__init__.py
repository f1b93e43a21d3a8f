"""Scenes of 3DIdent and Causal3DIdent: drawn on demand, written and read in the released layout, in pairs."""

from aninfonce.scenes.bank import DrawnImages, drawn
from aninfonce.scenes.layout import LATENTS
from aninfonce.scenes.matching import NearestLatents
from aninfonce.scenes.pairs import MatchedSource, PicturePairs, Redrawn, Rendered, scene_process
from aninfonce.scenes.released import KINDS, NORMALIZATION, SceneImages, is_released, read_scenes
from aninfonce.scenes.renderer import SceneRenderer, can_render
from aninfonce.scenes.shapes import SHAPES, shape_mesh
from aninfonce.scenes.sheet import contact_sheet
from aninfonce.scenes.writing import write_scenes

__all__ = [
    "KINDS",
    "LATENTS",
    "NORMALIZATION",
    "SHAPES",
    "DrawnImages",
    "MatchedSource",
    "NearestLatents",
    "PicturePairs",
    "Redrawn",
    "Rendered",
    "SceneImages",
    "SceneRenderer",
    "can_render",
    "contact_sheet",
    "drawn",
    "is_released",
    "read_scenes",
    "scene_process",
    "shape_mesh",
    "write_scenes",
]
