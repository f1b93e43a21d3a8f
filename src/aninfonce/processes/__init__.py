"""Data generating processes: pairs whose causes are known."""

from aninfonce.processes.batch import PairBatch
from aninfonce.processes.config import ProcessSettings
from aninfonce.processes.optimum import OptimalLoss, optimal_loss
from aninfonce.processes.presets import ensemble_process, preset_names, process, process_settings
from aninfonce.processes.process import (
    Centred,
    DataGeneratingProcess,
    EnsembleProcess,
    HardNegatives,
    Marginal,
)

__all__ = [
    "Centred",
    "DataGeneratingProcess",
    "EnsembleProcess",
    "HardNegatives",
    "Marginal",
    "OptimalLoss",
    "PairBatch",
    "ProcessSettings",
    "ensemble_process",
    "optimal_loss",
    "preset_names",
    "process",
    "process_settings",
]
