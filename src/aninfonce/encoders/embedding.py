"""An encoder as it is trained: a network, its head, and the last linear layer that maps fold into."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn


class Embedding(nn.Module):
    """A network and the head that says where its output lives.

    Example:
        >>> from aninfonce.encoders import SphereHead
        >>> Embedding(nn.Linear(3, 2), SphereHead())(torch.randn(4, 3)).shape
        torch.Size([4, 2])

    Args:
        body: from observations to (N, d).
        head: from (N, d) to (N, d).
        inputs: a fixed map before the body, such as `Whitening`.
        dropout: share of that map's outputs that are dropped at random during training.

    """

    def __init__(
        self, body: nn.Module, head: nn.Module, inputs: nn.Module | None = None, *, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.inputs = nn.Identity() if inputs is None else inputs
        self.dropout = nn.Dropout(dropout)
        self.body = body
        self.head = head

    def forward(self, x: Tensor) -> Tensor:
        """Embed observations as (N, d)."""
        embedding: Tensor = self.head(self.headless(x))
        return embedding

    def headless(self, x: Tensor) -> Tensor:
        """Embed observations in Rᵈ, before the head."""
        h: Tensor = self.body(self.dropout(self.inputs(x)))
        return h


class WithLinear(nn.Sequential):
    """A network that does not end in a linear layer, followed by one into which maps can be folded."""


@torch.no_grad()
def embed_in_chunks(
    module: nn.Module, x: Tensor, apply: Callable[[Tensor], Tensor] | None = None, chunk: int = 8192
) -> Tensor:
    """Apply a module to rows (N, ...), a chunk at a time, in its evaluation mode and without gradients.

    Rows are brought to the precision of the module. `apply` is a method of it to use instead of calling it.
    """
    apply = apply or module
    training = module.training
    weights = next(module.parameters(), x)
    try:
        module.eval()
        return torch.cat([apply(part.to(weights)) for part in torch.split(x, chunk)])
    finally:
        module.train(training)


def weight_type(module: nn.Module) -> torch.dtype:
    """Get the floating-point type in which a module takes its inputs: that of its first weight."""
    found = (weight.dtype for weight in module.parameters() if weight.is_floating_point())
    return next(found, torch.get_default_dtype())


def final_linear(encoder: nn.Module, x: Tensor) -> nn.Linear | None:
    """Find the linear layer whose output on some observations is the encoder's output; None without one."""
    seen: dict[nn.Linear, Tensor] = {}

    def remember(layer: nn.Module, _: Any, output: Tensor) -> None:
        assert isinstance(layer, nn.Linear)
        seen[layer] = output

    layers = [module for module in encoder.modules() if isinstance(module, nn.Linear)]
    hooks = [layer.register_forward_hook(remember) for layer in layers]
    training = encoder.training
    try:
        with torch.no_grad():
            output = encoder.eval()(x)
    finally:
        encoder.train(training)
        for hook in hooks:
            hook.remove()
    for layer, value in reversed(seen.items()):
        if value.shape == output.shape and torch.equal(value, output) and layer.bias is not None:
            return layer
    return None


def ensure_final_linear(encoder: nn.Module, x: Tensor, dim: int) -> nn.Module:
    """Give back the encoder if it ends in a linear layer, or append one that changes nothing yet."""
    if final_linear(encoder, x) is not None:
        return encoder
    return WithLinear(encoder, identity_linear(dim, weight_type(encoder)))


def identity_linear(dim: int, dtype: torch.dtype | None = None) -> nn.Linear:
    """Build a linear layer of d columns that changes nothing; no random number is drawn for it."""
    layer: nn.Linear = nn.utils.skip_init(nn.Linear, dim, dim, dtype=dtype)  # type: ignore[no-untyped-call]
    nn.init.eye_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


@torch.no_grad()
def compose_affine(layer: nn.Linear, matrix: Tensor, centre: Tensor) -> None:
    """Fold the map h ↦ A(h − b) into the linear layer that it follows."""
    weight, bias = matrix @ layer.weight.double(), matrix @ (layer.bias.double() - centre)
    layer.weight.copy_(weight)
    layer.bias.copy_(bias)
