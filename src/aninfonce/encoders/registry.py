"""Encoders by name, for configurations and the command line."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from torch import nn

from aninfonce._validation import describe, did_you_mean
from aninfonce.encoders.conv import KittiConvNet
from aninfonce.encoders.embedding import Embedding
from aninfonce.encoders.glimpse import GlimpseNet
from aninfonce.encoders.heads import build_head
from aninfonce.encoders.mlp import MLP, paper_mlp
from aninfonce.encoders.resnet import resnet
from aninfonce.encoders.small import SmallConvNet

Builder = Callable[..., nn.Module]

_BUILDERS: dict[str, Builder] = {
    "glimpse": GlimpseNet,
    "kitti-conv": KittiConvNet,
    "mlp": MLP,
    "paper-mlp": paper_mlp,
    "resnet18": partial(resnet, 18),
    "resnet50": partial(resnet, 50),
    "small-conv": SmallConvNet,
}
# What an encoder is for, by the size that it asks for.
_TAKES = {"in_features": "rows (N, D)", "in_channels": "pictures (N, C, H, W)"}


def encoder_names() -> tuple[str, ...]:
    """List the names that `build_encoder` knows.

    Example:
        >>> encoder_names()
        ('glimpse', 'kitti-conv', 'mlp', 'paper-mlp', 'resnet18', 'resnet50', 'small-conv')

    Returns:
        The names in alphabetical order.

    """
    return tuple(sorted(_BUILDERS))


def register_encoder(name: str, builder: Builder, *, replace: bool = False) -> Builder:
    """Make a class or function known to `build_encoder`.

    Example:
        >>> _ = register_encoder("linear", nn.Linear, replace=True)
        >>> build_encoder("linear", in_features=3, out_features=2)
        Linear(in_features=3, out_features=2, bias=True)
        >>> _ = _BUILDERS.pop("linear")

    Args:
        name: to call it by.
        builder: called with the options of `build_encoder`, returns a module.
        replace: whether a name that is taken may be given again.

    """
    if not isinstance(name, str) or not name:
        raise ValueError(f"`name` must be a non-empty string, got {describe(name)}")
    if not callable(builder):
        raise ValueError(
            f"`builder` must be a class or function that returns a module, got {describe(builder)}"
        )
    if name in _BUILDERS and not replace:
        raise ValueError(f"`name` must not be taken, got {name!r}; pass replace=True to give it again")
    _BUILDERS[name] = builder
    return builder


def build_encoder(
    encoder: str | nn.Module, *, head: str | nn.Module | None = None, **options: Any
) -> nn.Module:
    """Build an encoder by name, or take a module as it is; with a head, as an `Embedding`.

    Example:
        >>> encoder = build_encoder("mlp", in_features=10, out_features=11, head="sphere")
        >>> encoder.head
        SphereHead(radius=1)

    Args:
        encoder: one of `encoder_names()`, or any module of your own, which is returned unchanged.
        head: where the embedding is to live, as in `build_head`; None for what the network gives.
        options: arguments of the named encoder, such as `in_features`, `out_features`, `generator`.

    Returns:
        The encoder, from observations to embeddings (N, d).

    """
    if isinstance(encoder, nn.Module):
        if options or head is not None:
            given = sorted(options) or "a head"
            raise ValueError(f"`options` must be empty for a module that is already built, got {given}")
        return encoder
    if not isinstance(encoder, str) or encoder not in _BUILDERS:
        raise ValueError(
            f"`encoder` must be a module or one of {', '.join(map(repr, encoder_names()))}, "
            f"got {describe(encoder)}{did_you_mean(encoder, encoder_names())}"
        )
    builder = _BUILDERS[encoder]
    signature = inspect.signature(builder)
    for size, other in (("in_features", "in_channels"), ("in_channels", "in_features")):
        if size in options and size not in signature.parameters and other in signature.parameters:
            raise ValueError(
                f"`encoder` must be one for {_TAKES[size]}, got {encoder!r}, which is for {_TAKES[other]}"
            )
    try:
        signature.bind(**options)
    except TypeError as problem:
        raise ValueError(
            f"`options` of the encoder {encoder!r} must be among {', '.join(signature.parameters)}, "
            f"got {sorted(options)}: {problem}"
        ) from None
    module = builder(**options)
    if not isinstance(module, nn.Module):
        raise ValueError(f"`encoder` {encoder!r} must build a module, got {describe(module)}")
    return module if head is None else Embedding(module, build_head(head, options.get("out_features")))
