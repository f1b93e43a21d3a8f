"""Optimisers and their schedules: which parameter moves how, and at what rate."""

from aninfonce.optim.muon import Muon

__all__ = ["Muon"]
