"""What a model kept and lost, and which assumption the data break."""

from aninfonce.diagnostics.concentration import FittedConcentration, fit_concentration, shared_blocks

__all__ = ["FittedConcentration", "fit_concentration", "shared_blocks"]
