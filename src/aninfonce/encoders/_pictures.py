"""What networks of pictures share: convolutions, the order of their memory, and what they may be given."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def fastest_order(width: int) -> torch.memory_format:
    """Choose the memory format of weights and inputs, for layers of at least `width` channels.

    A processor is fastest with the channels last. With 4 of them torch 2.13 then writes out of bounds: widths
    that are no multiple of 8 keep the usual order.

    >>> fastest_order(16), fastest_order(4)
    (torch.channels_last, torch.contiguous_format)
    """
    return torch.channels_last if width % 8 == 0 else torch.contiguous_format


def convolve(n_in: int, n_out: int, stride: int, size: int = 3) -> list[nn.Module]:
    """Give a convolution that keeps the side of a picture or halves it, with its normalisation and ReLU."""
    convolution = nn.Conv2d(n_in, n_out, size, stride=stride, padding=(size - 1) // 2, bias=False)
    return [convolution, nn.BatchNorm2d(n_out), nn.ReLU(inplace=True)]


def check_pictures(x: Tensor, channels: int, *, least: int = 1) -> Tensor:
    """Require images (N, channels, H, W), perhaps of a least side."""
    if x.ndim != 4 or x.shape[1] != channels or min(x.shape[2:]) < least:
        sides = f", H and W at least {least}" if least > 1 else ""
        raise ValueError(f"`x` must have shape (N, {channels}, H, W){sides}, got {tuple(x.shape)}")
    return x
