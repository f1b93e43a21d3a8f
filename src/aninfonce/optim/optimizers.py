"""Which optimiser moves which parameter."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.optim import Adam, Optimizer

from aninfonce.optim.lars import Lars
from aninfonce.optim.muon import Muon
from aninfonce.recipe import Recipe


def hidden_matrices(encoder: nn.Module) -> list[Tensor]:
    """List the weights between hidden layers: all matrices and kernels but the first and the last.

    Example:
        >>> net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
        >>> [tuple(weight.shape) for weight in hidden_matrices(net)]
        [(8, 8)]

    Args:
        encoder: any module; the order is that in which its layers were registered.

    Returns:
        The parameters that `Muon` is made for.

    """
    layers = [m for m in encoder.modules() if isinstance(m, nn.Linear | nn.Conv1d | nn.Conv2d | nn.Conv3d)]
    return [layer.weight for layer in layers[1:-1] if layer.weight.requires_grad]


def build_optimizers(encoder: nn.Module, loss: nn.Module, recipe: Recipe) -> list[Optimizer]:
    """Muon for hidden matrices, Adam for the rest of the encoder and, at a rate of its own, for the loss.

    With the optimiser "lars", LARS for all of the encoder.

    Args:
        encoder: whose weights are trained.
        loss: whose parameters (Λ̂, a temperature, potentials) are trained.
        recipe: rates and momenta.

    Returns:
        One or two optimisers; each group holds its undecayed rate as `initial_lr`.

    """
    matrices = hidden_matrices(encoder) if recipe.optimizer == "muon" else []
    scaled = [p for p in encoder.parameters() if p.requires_grad] if recipe.optimizer == "lars" else []
    taken = {id(parameter) for parameter in [*matrices, *scaled]}
    rest = [p for p in encoder.parameters() if p.requires_grad and id(p) not in taken]
    groups = [
        {"params": parameters, "lr": rate}
        for parameters, rate in (
            (rest, recipe.adam_lr),
            ([p for p in loss.parameters() if p.requires_grad], recipe.concentration_lr),
        )
        if parameters
    ]
    optimizers: list[Optimizer] = []
    if groups:
        optimizers.append(Adam(groups, betas=recipe.adam_betas, fused=_can_fuse(rest)))
    if matrices:
        muon = Muon(
            matrices,
            recipe.muon_lr,
            momentum=recipe.muon_momentum,
            iterations=recipe.muon_iterations,
            refresh=recipe.muon_refresh,
        )
        optimizers.append(muon)
    if scaled:
        optimizers.append(Lars(scaled, recipe.lars_lr, weight_decay=recipe.lars_decay))
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["initial_lr"] = group["lr"]
    return optimizers


def _can_fuse(parameters: Sequence[Tensor]) -> bool:
    return all(p.device.type in ("cpu", "cuda") and torch.is_floating_point(p) for p in parameters)
