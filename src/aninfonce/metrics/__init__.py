"""How well the hidden factors were recovered, and what an embedding is good for.

Pure functions of arrays or tensors; each answers with a number or a small frozen result that flags
degenerate input instead of turning into NaN. `docs/metrics.md` says which one to read when.
"""

from aninfonce.metrics.accuracy import Accuracy, knn_accuracy, linear_probe_accuracy
from aninfonce.metrics.baseline import IdentityBaseline, identity_baseline
from aninfonce.metrics.blocks import BlockOrthogonality, block_orthogonality
from aninfonce.metrics.concentration_error import ConcentrationError, concentration_error
from aninfonce.metrics.correlation import MeanCorrelation, mean_correlation_coefficient
from aninfonce.metrics.geometry import alignment, rankme, uniformity
from aninfonce.metrics.nonlinear import kernel_ridge_r2, mlp_r2
from aninfonce.metrics.regression import R2Score, linear_r2

__all__ = [
    "Accuracy",
    "BlockOrthogonality",
    "ConcentrationError",
    "IdentityBaseline",
    "MeanCorrelation",
    "R2Score",
    "alignment",
    "block_orthogonality",
    "concentration_error",
    "identity_baseline",
    "kernel_ridge_r2",
    "knn_accuracy",
    "linear_probe_accuracy",
    "linear_r2",
    "mean_correlation_coefficient",
    "mlp_r2",
    "rankme",
    "uniformity",
]
