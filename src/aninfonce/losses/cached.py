"""Large batches with an encoder that only fits small ones: activations are computed twice, not kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves
from torch.utils.checkpoint import get_device_states, set_device_states

from aninfonce._validation import check_count

Encoder = Callable[[Any], Tensor]
Inputs = Tensor | Sequence[Any]


def cached_backward(
    encoder: Encoder | tuple[Encoder, Encoder],
    loss: Callable[[Tensor, Tensor], Tensor],
    x0: Inputs,
    x1: Inputs,
    *,
    chunk: int = 512,
    backward: Callable[[Tensor], Any] = Tensor.backward,
) -> Tensor:
    """Backpropagate `loss(encoder(x0), encoder(x1))` with the encoder's memory for `chunk` rows only.

    First all embeddings are computed without a graph; then the loss and its gradients for them; then each
    chunk is encoded once more, with a graph, and its part of those gradients goes back through it. `.grad`
    then holds what a plain `backward` would leave there, up to rounding. The price is a second forward pass
    of the encoder.

    The same random numbers are drawn in both passes, so dropout and augmentation inside the encoder repeat
    themselves. Buffers change only once. Batch normalisation sees a chunk as its batch.

    Example:
        >>> import torch
        >>> from aninfonce import AnInfoNCE
        >>> encoder, loss = torch.nn.Linear(5, 3), AnInfoNCE(3)
        >>> x0, x1 = torch.randn(2, 1000, 5)
        >>> value = cached_backward(encoder, loss, x0, x1, chunk=64)
        >>> cached = encoder.weight.grad.clone()
        >>> encoder.zero_grad()
        >>> loss(encoder(x0), encoder(x1)).backward()
        >>> torch.allclose(cached, encoder.weight.grad, atol=1e-6)
        True

    Args:
        encoder: From some rows of the data to their embeddings (n, d); a pair if the views have one each.
        loss: From two views (N, d) to a scalar. Its own parameters get their gradients too.
        x0: Data of the first view: a tensor, cut along its first dimension, or a sequence of chunks of
            whatever the encoder takes.
        x1: Data of the second view.
        chunk: Rows of a chunk, if tensors are given.
        backward: How the loss goes back; with a gradient scaler
            `lambda value: scaler.scale(value).backward()`.

    Returns:
        The value of the loss, without a graph.

    References:
        Gao et al., "Scaling deep contrastive learning batch size under memory limited setup" (2021).

    """
    check_count(chunk, "chunk")
    encoders = encoder if isinstance(encoder, tuple) else (encoder, encoder)
    views = [_cut(x, chunk) for x in (x0, x1)]
    pieces = [(encode, part) for encode, view in zip(encoders, views, strict=True) for part in view]
    states: list[_Draws] = []
    embeddings: list[Tensor] = []
    with torch.no_grad(), _buffers_kept(encoders):
        for encode, part in pieces:
            states.append(_Draws(part))
            embeddings.append(encode(part))
    first = len(views[0])
    leaves = [torch.cat(part).requires_grad_() for part in (embeddings[:first], embeddings[first:])]
    sizes = [len(part) for part in embeddings]
    del embeddings
    value = loss(*leaves)
    backward(value)
    end = _Draws(pieces)
    slopes = [
        slope
        for leaf, rows in zip(leaves, (sizes[:first], sizes[first:]), strict=True)
        for slope in torch.split(torch.zeros_like(leaf) if leaf.grad is None else leaf.grad, rows)
    ]
    for index, ((encode, part), state, slope) in enumerate(zip(pieces, states, slopes, strict=True)):
        state.restore()
        last = all(encode is not other for other, _ in pieces[index + 1 :])
        with _local(encode) if not last else nullcontext():
            torch.autograd.backward(encode(part), slope)
    end.restore()
    return value.detach()


def _cut(x: Inputs, chunk: int) -> Sequence[Any]:
    """Cut a tensor into chunks; a sequence already is one of chunks."""
    return torch.split(x, chunk) if isinstance(x, Tensor) else x


class _Draws:
    """State of the generators that an encoder of these inputs draws from."""

    def __init__(self, inputs: Any) -> None:
        self.cpu = torch.get_rng_state()
        self.devices, self.states = get_device_states(*tree_leaves(inputs))

    def restore(self) -> None:
        torch.set_rng_state(self.cpu)
        set_device_states(self.devices, self.states)


@contextmanager
def _buffers_kept(encoders: Sequence[Encoder]) -> Iterator[None]:
    """Put the buffers back at the end: the second pass changes them."""
    modules = [encode for encode in encoders if isinstance(encode, nn.Module)]
    kept = [(buffer, buffer.clone()) for module in modules for buffer in module.buffers()]
    yield
    for buffer, copy in kept:
        buffer.copy_(copy)


def _local(encode: Encoder) -> AbstractContextManager[Any]:
    """Leave the exchange between processes, if any, to a later chunk."""
    context: AbstractContextManager[Any] = getattr(encode, "no_sync", nullcontext)()
    return context
