"""Fits on a frozen embedding: which directions are the factors, and how strongly each varies within pairs."""

from aninfonce.alignment.flat import FlatAxes, fix_signs, flat_axes, time_constant
from aninfonce.alignment.independent import IndependentAxes, independent_axes
from aninfonce.alignment.joint import JointAxes, joint_diagonalisation

__all__ = [
    "FlatAxes",
    "IndependentAxes",
    "JointAxes",
    "fix_signs",
    "flat_axes",
    "independent_axes",
    "joint_diagonalisation",
    "time_constant",
]
