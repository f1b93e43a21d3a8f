"""The pure functions of the package."""

from aninfonce.losses.functional import Components, info_nce, info_nce_components
from aninfonce.losses.siglip import siglip
from aninfonce.losses.spectral import decorrelation, spectral_contrastive

__all__ = [
    "Components",
    "decorrelation",
    "info_nce",
    "info_nce_components",
    "siglip",
    "spectral_contrastive",
]
