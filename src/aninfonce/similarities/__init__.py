"""How alike two embeddings are: small modules that compose with every loss.

A similarity is an `nn.Module` whose `forward(q, r)` gives the (N, M) matrix. Give it to any loss of
this package as `similarity=`, or to a loss of pytorch-metric-learning as `distance=`.
"""

from aninfonce.similarities.anisotropic import Anisotropic, Diagonalised, FullAnisotropic
from aninfonce.similarities.base import Factors, Similarity
from aninfonce.similarities.dot import Dot, Scaled
from aninfonce.similarities.linear_step import LinearStep
from aninfonce.similarities.lp import NegativeLp
from aninfonce.similarities.per_anchor import PerAnchor, per_anchor_factors

__all__ = [
    "Anisotropic",
    "Diagonalised",
    "Dot",
    "Factors",
    "FullAnisotropic",
    "LinearStep",
    "NegativeLp",
    "PerAnchor",
    "Scaled",
    "Similarity",
    "per_anchor_factors",
]
