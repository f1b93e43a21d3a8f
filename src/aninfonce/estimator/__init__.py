"""`ContrastiveICA`: the recovery of hidden factors as a scikit-learn estimator."""

from aninfonce.estimator.alerts import ContrastiveICAWarning
from aninfonce.estimator.consistency import Consistency, consistency
from aninfonce.estimator.contrastive_ica import ContrastiveICA

__all__ = ["Consistency", "ContrastiveICA", "ContrastiveICAWarning", "consistency"]
