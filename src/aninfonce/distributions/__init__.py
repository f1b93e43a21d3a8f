"""What is drawn in a space: every density that the papers use, sampled exactly."""

from aninfonce.distributions.approximate import ApproximateFisherBingham
from aninfonce.distributions.base import Conditional
from aninfonce.distributions.fisher_bingham import FisherBingham
from aninfonce.distributions.product import GeneralizedNormal, Laplace, Normal
from aninfonce.distributions.projected import Projected
from aninfonce.distributions.shaped import ShapedNoise
from aninfonce.distributions.truncated import Truncated
from aninfonce.distributions.uniform import Uniform
from aninfonce.distributions.von_mises_fisher import VonMisesFisher

__all__ = [
    "ApproximateFisherBingham",
    "Conditional",
    "FisherBingham",
    "GeneralizedNormal",
    "Laplace",
    "Normal",
    "Projected",
    "ShapedNoise",
    "Truncated",
    "Uniform",
    "VonMisesFisher",
]
