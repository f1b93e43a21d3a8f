from aninfonce.diagnostics.audit import AuditReport as AuditReport
from aninfonce.diagnostics.audit import audit as audit
from aninfonce.diagnostics.audit import write_audit as write_audit
from aninfonce.diagnostics.concentration import FittedConcentration as FittedConcentration
from aninfonce.diagnostics.concentration import fit_concentration as fit_concentration
from aninfonce.diagnostics.concentration import shared_blocks as shared_blocks
from aninfonce.diagnostics.decay import decay_times as decay_times
from aninfonce.diagnostics.finding import Finding as Finding
