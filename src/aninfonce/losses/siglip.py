"""The sigmoid loss: each pair of embeddings is judged by itself, without a normaliser over the others."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch._compile import _disable_dynamo

from aninfonce._validation import check_choice, check_finite, check_number, describe
from aninfonce.losses._batch import REDUCTIONS, Reduction
from aninfonce.losses._prepare import (
    check_temperature,
    check_views,
    full_precision,
    inverse_temperature,
    to_working,
)
from aninfonce.losses.gather import Shard, find_shard, gather_rows, global_value
from aninfonce.losses.kernel.differentiable import differentiable
from aninfonce.losses.kernel.probes import Probes
from aninfonce.losses.kernel.sigmoid import sigmoid_sweep


def siglip(
    z0: Tensor,
    z1: Tensor,
    *,
    temperature: float | Tensor = 0.1,
    bias: float | Tensor = -10.0,
    normalize: bool = False,
    reduction: Reduction = "mean",
    gather_distributed: bool = False,
) -> Tensor:
    """Cross-entropy of deciding for each z0[i] and z1[j] whether they belong together.

    The logit is z0[i]ᵀz1[j] / temperature + bias. The loss of z0[i] is the sum over j, and the loss is the
    mean over i, as in the paper. Memory is linear in N: no (N, N) matrix is ever held.

    Example:
        >>> import torch
        >>> from aninfonce.functional import siglip
        >>> z = torch.eye(4)
        >>> siglip(z, z, temperature=0.05, bias=-10.0)  # logits of 10 and of −10
        tensor(0.0002)

    Args:
        z0: First view, (N, d).
        z1: Second view, (N, d); row i belongs to row i of `z0`.
        temperature: Divides the inner product; positive. A tensor gets a gradient.
        bias: Added to it; far below 0 at the start, since few pairs belong together. A tensor gets a
            gradient.
        normalize: Scale all embeddings to unit length first.
        reduction: "mean" or "sum" over the rows of `z0`, or "none" for (N,).
        gather_distributed: Compare this process's rows of `z0` with the `z1` of all processes. Values and
            gradients are those of the whole batch, as in `info_nce`.

    Returns:
        The loss in float32, or float64 for float64 input.

    References:
        Zhai et al., "Sigmoid loss for language image pre-training" (2023).

    """
    check_views(z0, z1, finite=False)
    check_temperature(temperature)
    _check_bias(bias)
    check_choice(reduction, "reduction", REDUCTIONS)
    shard = find_shard(len(z0), z0.device, gather_distributed)
    if torch.compiler.is_compiling():
        # As in `info_nce`: compiled code ends here, and the kernel runs uncompiled.
        local: Tensor = _uncompiled(z0, z1, temperature, bias, normalize, reduction, shard)
    else:
        local = _local(z0, z1, temperature, bias, normalize, reduction, shard)
    return local if reduction == "none" else global_value(local, shard)


def _local(
    z0: Tensor,
    z1: Tensor,
    temperature: float | Tensor,
    bias: float | Tensor,
    normalize: bool,
    reduction: Reduction,
    shard: Shard,
) -> Tensor:
    """Loss of this process's rows of `z0`, weighted so that the mean over processes is the whole batch's."""
    everyone = gather_rows(z1, shard)
    with full_precision(z0.device):
        probes = Probes()
        dtype = torch.promote_types(torch.promote_types(z0.dtype, z1.dtype), torch.float32)
        query, key = (to_working(z, normalize, dtype, probes) for z in (z0, everyone))
        offset = bias.to(query).reshape(()) if isinstance(bias, Tensor) else query.new_full((), bias)
        weight = None
        if reduction != "none":
            weight = shard.processes / (shard.total if reduction == "mean" else 1)
        sweep = partial(sigmoid_sweep, first=shard.start)
        scaled = query * inverse_temperature(temperature, query)
        loss = differentiable(sweep, weight, scaled, key, offset)
        probes.finite(loss if loss.ndim == 0 else loss.sum())
        if isinstance(temperature, Tensor):
            probes.at_least(temperature.reshape(()), torch.finfo(temperature.dtype).tiny)
        if not probes.hold():
            _refuse_bad_input(z0, z1, temperature, bias)
        return loss


_uncompiled = _disable_dynamo(_local)


def _check_bias(bias: float | Tensor) -> None:
    if not isinstance(bias, Tensor):
        check_number(bias, "bias")
    elif bias.numel() != 1:
        raise ValueError(f"`bias` must be one number, got {describe(bias)}")


def _refuse_bad_input(z0: Tensor, z1: Tensor, temperature: float | Tensor, bias: float | Tensor) -> None:
    """Name what is not finite, or not positive; if nothing is, the loss is too large for its precision."""
    if isinstance(temperature, Tensor):
        check_number(temperature.detach().item(), "temperature", minimum=0, exclusive=True)
    for name, value in (("z0", z0), ("z1", z1), ("bias", bias)):
        if isinstance(value, Tensor):
            check_finite(value, name)


class SigLIP(nn.Module):
    """The sigmoid loss on cosines, with a trained temperature and bias.

    Call it as `loss(z0, z1)` with z0, z1: (N, d). Pass `param_groups` to the optimizer, or temperature and
    bias do not train.

    Example:
        >>> import torch
        >>> loss = SigLIP()
        >>> z0, z1 = torch.randn(2, 8, 3)
        >>> loss(z0, z1).backward()
        >>> [name for name, _ in loss.named_parameters()]
        ['log_temperature', 'bias']

    Args:
        temperature: Divides the cosine; the paper starts at 1/10.
        bias: Added to it; the paper starts at −10.
        normalize: Scale the embeddings to unit length first.
        reduction: "mean", "sum" or "none".
        gather_distributed: Compare rows with those of all processes.

    References:
        Zhai et al., "Sigmoid loss for language image pre-training" (2023).

    """

    def __init__(
        self,
        temperature: float = 0.1,
        bias: float = -10.0,
        *,
        normalize: bool = True,
        reduction: Reduction = "mean",
        gather_distributed: bool = False,
    ) -> None:
        super().__init__()
        check_number(temperature, "temperature", minimum=0, exclusive=True)
        check_number(bias, "bias")
        check_choice(reduction, "reduction", REDUCTIONS)
        self.log_temperature = nn.Parameter(torch.tensor(math.log(temperature)))
        self.bias = nn.Parameter(torch.tensor(float(bias)))
        self.normalize = normalize
        self.reduction: Reduction = reduction
        self.gather_distributed = gather_distributed

    @property
    def temperature(self) -> Tensor:
        """The current temperature, ()."""
        return self.log_temperature.exp()

    def forward(self, z0: Tensor, z1: Tensor) -> Tensor:
        """Two views, (N, d) each, to a scalar; (N,) for `reduction="none"`."""
        return siglip(
            z0,
            z1,
            temperature=self.temperature,
            bias=self.bias,
            normalize=self.normalize,
            reduction=self.reduction,
            gather_distributed=self.gather_distributed,
        )

    def param_groups(self, lr: float) -> list[dict[str, Any]]:
        """Temperature and bias for an optimizer, at `lr` and without weight decay."""
        return [{"params": list(self.parameters()), "lr": lr, "weight_decay": 0.0}]

    def extra_repr(self) -> str:
        """Show the settings."""
        temperature, bias = self.temperature.item(), self.bias.item()
        return f"temperature={temperature:g}, bias={bias:g}, normalize={self.normalize}"
