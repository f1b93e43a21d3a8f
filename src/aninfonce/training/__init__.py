"""From pairs to recovered factors: recipe, loop, checkpoints and the closing fits."""

from aninfonce.training.align import FittedMetric, fit_metric
from aninfonce.training.checkpoint import CheckpointError
from aninfonce.training.config import (
    Closing,
    DataSettings,
    EncoderSettings,
    LossSettings,
    Recipe,
    TrainingConfig,
    Unfolding,
    load_config,
)
from aninfonce.training.errors import NonFiniteLoss, TrainingInterrupted
from aninfonce.training.folding import FoldingCheck, check_folding
from aninfonce.training.log import Reporter, TensorBoard, WeightsAndBiases
from aninfonce.training.loop import Trainer, fit
from aninfonce.training.muon import Muon, orthogonalize
from aninfonce.training.neighbours import NeighbourOrder
from aninfonce.training.result import Fitted
from aninfonce.training.sequences import SequenceSource
from aninfonce.training.snapshot import load_fitted
from aninfonce.training.source import ArraySource, LoaderSource, PairSource, ProcessSource, as_source
from aninfonce.training.sphering import AffineMap, sphering_map

__all__ = [
    "AffineMap",
    "ArraySource",
    "CheckpointError",
    "Closing",
    "DataSettings",
    "EncoderSettings",
    "Fitted",
    "FittedMetric",
    "FoldingCheck",
    "LoaderSource",
    "LossSettings",
    "Muon",
    "NeighbourOrder",
    "NonFiniteLoss",
    "PairSource",
    "ProcessSource",
    "Recipe",
    "Reporter",
    "SequenceSource",
    "TensorBoard",
    "Trainer",
    "TrainingConfig",
    "TrainingInterrupted",
    "Unfolding",
    "WeightsAndBiases",
    "as_source",
    "check_folding",
    "fit",
    "fit_metric",
    "load_config",
    "load_fitted",
    "orthogonalize",
    "sphering_map",
]
