"""Recover the hidden factors behind paired data by contrastive learning."""

__version__ = "0.1.0"
