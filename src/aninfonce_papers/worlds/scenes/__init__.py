"""Scenes of 3DIdent and Causal3DIdent: drawn on demand, written and read in the released layout, in pairs."""

from aninfonce_papers.worlds.scenes.bank import DrawnImages, drawn
from aninfonce_papers.worlds.scenes.fresh import FreshScenes, Groups
from aninfonce_papers.worlds.scenes.layout import LATENTS
from aninfonce_papers.worlds.scenes.matching import NearestLatents
from aninfonce_papers.worlds.scenes.pairs import MatchedSource, PicturePairs, Redrawn, Rendered, scene_process
from aninfonce_papers.worlds.scenes.released import (
    KINDS,
    NORMALIZATION,
    SceneImages,
    is_released,
    read_scenes,
)
from aninfonce_papers.worlds.scenes.renderer import SceneRenderer, can_render
from aninfonce_papers.worlds.scenes.shapes import SHAPES, shape_mesh
from aninfonce_papers.worlds.scenes.sheet import contact_sheet
from aninfonce_papers.worlds.scenes.writing import write_scenes

__all__ = [
    "KINDS",
    "LATENTS",
    "NORMALIZATION",
    "SHAPES",
    "DrawnImages",
    "FreshScenes",
    "Groups",
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
