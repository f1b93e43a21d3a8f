from aninfonce import functional as functional
from aninfonce.diagnostics import audit as audit
from aninfonce.estimator import ContrastiveICA as ContrastiveICA
from aninfonce.estimator import ContrastiveICAWarning as ContrastiveICAWarning
from aninfonce.losses import AnInfoNCE as AnInfoNCE
from aninfonce.losses import EnsembleAnInfoNCE as EnsembleAnInfoNCE
from aninfonce.losses import InfoNCE as InfoNCE
from aninfonce.losses import LpInfoNCE as LpInfoNCE
from aninfonce.losses import NTXent as NTXent
from aninfonce.losses import SpectralContrastive as SpectralContrastive
from aninfonce.losses import TriCL as TriCL
from aninfonce.processes import DataGeneratingProcess as DataGeneratingProcess
from aninfonce.processes import PairBatch as PairBatch
from aninfonce.processes import optimal_loss as optimal_loss
from aninfonce.processes import process as process
from aninfonce.spaces import Box as Box
from aninfonce.spaces import Euclidean as Euclidean
from aninfonce.spaces import Sphere as Sphere

__version__: str
