"""The memory format of convolutional networks and their pictures."""

from __future__ import annotations

import torch


def fastest_order(width: int) -> torch.memory_format:
    """Choose between channels-last and contiguous memory.

    A processor is fastest with the channels last. With 4 of them torch 2.13 then writes out of bounds: widths
    that are no multiple of 8 keep the usual order.

    >>> fastest_order(16), fastest_order(4)
    (torch.channels_last, torch.contiguous_format)

    Args:
        width: smallest number of channels between two convolutions.

    Returns:
        The order for weights and inputs.

    """
    return torch.channels_last if width % 8 == 0 else torch.contiguous_format
