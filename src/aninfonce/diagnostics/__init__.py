"""What a model kept and lost, and which assumption the data break."""

from aninfonce.diagnostics.audit import AuditReport, audit
from aninfonce.diagnostics.concentration import FittedConcentration, fit_concentration, shared_blocks
from aninfonce.diagnostics.decay import decay_times
from aninfonce.diagnostics.finding import Finding
from aninfonce.diagnostics.page import write_audit

__all__ = [
    "AuditReport",
    "Finding",
    "FittedConcentration",
    "audit",
    "decay_times",
    "fit_concentration",
    "shared_blocks",
    "write_audit",
]
