"""Contrastive losses: pure functions, modules around them, and the tiled kernel under both."""

from aninfonce.losses.cached import cached_backward
from aninfonce.losses.ensemble import AlternatingLoss, EnsembleAnInfoNCE
from aninfonce.losses.functional import Components, info_nce, info_nce_components
from aninfonce.losses.linear_dynamics import LinearDynamics
from aninfonce.losses.modules import AnInfoNCE, InfoNCE, InfoNCEOptions, LpInfoNCE, NTXent
from aninfonce.losses.potential import CandidatePotential
from aninfonce.losses.siglip import SigLIP, siglip
from aninfonce.losses.spectral import SpectralContrastive, decorrelation, spectral_contrastive
from aninfonce.losses.tricl import TriCL, TriCLComponents

__all__ = [
    "AlternatingLoss",
    "AnInfoNCE",
    "CandidatePotential",
    "Components",
    "EnsembleAnInfoNCE",
    "InfoNCE",
    "InfoNCEOptions",
    "LinearDynamics",
    "LpInfoNCE",
    "NTXent",
    "SigLIP",
    "SpectralContrastive",
    "TriCL",
    "TriCLComponents",
    "cached_backward",
    "decorrelation",
    "info_nce",
    "info_nce_components",
    "siglip",
    "spectral_contrastive",
]
