"""Augmentations of images, batched and seeded, and pairs made with them."""

from aninfonce.augment.base import Augmentation, Augmented, Compose, seeded
from aninfonce.augment.colour import Brightness, Contrast, Grey, Hue, Jitter, Saturation
from aninfonce.augment.grouped import SIMCLR_GROUPS, GroupedViews
from aninfonce.augment.presets import fixed, readouts, simclr
from aninfonce.augment.spatial import Blur, Crop, Flip
from aninfonce.augment.turns import Turn, TurnedViews
from aninfonce.augment.views import Views, ViewSource

__all__ = [
    "SIMCLR_GROUPS",
    "Augmentation",
    "Augmented",
    "Blur",
    "Brightness",
    "Compose",
    "Contrast",
    "Crop",
    "Flip",
    "Grey",
    "GroupedViews",
    "Hue",
    "Jitter",
    "Saturation",
    "Turn",
    "TurnedViews",
    "ViewSource",
    "Views",
    "fixed",
    "readouts",
    "seeded",
    "simclr",
]
