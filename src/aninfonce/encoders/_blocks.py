"""Layers that the small networks are made of."""

from __future__ import annotations

from torch import nn


def convolve(n_in: int, n_out: int, stride: int) -> list[nn.Module]:
    """Give a 3×3 convolution that keeps the size or halves it, with its normalisation and ReLU."""
    convolution = nn.Conv2d(n_in, n_out, 3, stride=stride, padding=1, bias=False)
    return [convolution, nn.BatchNorm2d(n_out), nn.ReLU(inplace=True)]
