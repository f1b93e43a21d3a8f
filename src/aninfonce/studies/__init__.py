"""Every table and figure by name: grids, values to compare with, sweeps that can be stopped and resumed."""

from aninfonce.studies.base import PRESETS, Cell, Preset, Published, Study
from aninfonce.studies.plan import Task, estimate_seconds, parse_changes, plan
from aninfonce.studies.registry import find_study, study_names
from aninfonce.studies.runner import remaining, run_sweep
from aninfonce.studies.store import ResultStore, newest

__all__ = [
    "PRESETS",
    "Cell",
    "Preset",
    "Published",
    "ResultStore",
    "Study",
    "Task",
    "estimate_seconds",
    "find_study",
    "newest",
    "parse_changes",
    "plan",
    "remaining",
    "run_sweep",
    "study_names",
]
