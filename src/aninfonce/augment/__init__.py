"""Augmentations of images, batched and seeded, and pairs made with them."""

from aninfonce.augment.base import Augmentation, Augmented, Compose, seeded
from aninfonce.augment.colour import Brightness, Contrast, Grey, Hue, Jitter, Saturation
from aninfonce.augment.geometry import Blur, Crop, Flip
from aninfonce.augment.presets import fixed, readouts, simclr
from aninfonce.augment.turns import Turn, TurnedViews
from aninfonce.augment.views import Views, ViewSource

__all__ = [
    "Augmentation",
    "Augmented",
    "Blur",
    "Brightness",
    "Compose",
    "Contrast",
    "Crop",
    "Flip",
    "Grey",
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
