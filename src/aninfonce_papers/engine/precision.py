"""The precision that networks of pictures are trained in: bfloat16 where the hardware is made for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch

if TYPE_CHECKING:
    from lightning_fabric import Fabric

Precision = Literal["float32", "bfloat16"]


def fastest_precision() -> Precision:
    """Choose bfloat16 where there is a GPU, or a processor that multiplies it; float32 elsewhere.

    >>> fastest_precision() in ("float32", "bfloat16")
    True
    """
    if torch.cuda.is_available():
        return "bfloat16" if torch.cuda.is_bf16_supported() else "float32"
    # Names such as avx512_bf16 and amx_bf16. Without them torch emulates it, slowly.
    known: dict[str, object] = getattr(torch.cpu, "get_capabilities", dict)()
    return "bfloat16" if any(has and "bf16" in name for name, has in known.items()) else "float32"


def open_fabric(precision: Precision, devices: int = 1) -> Fabric:
    """Set up devices, not yet launched: weights in float32, products of the network in `precision`."""
    from lightning_fabric import Fabric

    return Fabric(
        accelerator="auto",
        devices=devices,
        # Spawned processes, not copies of this command: it has started a sweep already.
        strategy="ddp_spawn" if devices > 1 else "auto",
        precision="bf16-mixed" if precision == "bfloat16" else "32-true",
    )
