"""The upper bound: the same encoder, trained on the true latents."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

from aninfonce.encoders import build_encoder
from aninfonce.extending import Whitening, build_optimizers, descend, stream
from aninfonce.processes import DataGeneratingProcess
from aninfonce.training import Recipe

_WHITENING_INPUTS = 16_384


def fit_supervised(
    source: DataGeneratingProcess,
    recipe: Recipe,
    seed: int,
    *,
    encoder: str = "mlp",
    head: str = "none",
) -> nn.Module:
    """Train an encoder on the squared error to the latents.

    Example:
        >>> import torch
        >>> from aninfonce.processes import process
        >>> world = process("fig2/25", mixing="identity")
        >>> encoder = fit_supervised(world, Recipe(steps=100, batch_size=64), seed=0)
        >>> batch = world.sample(500, torch.Generator().manual_seed(1))
        >>> bool((encoder(batch.x) - batch.z).square().mean() < 0.05)
        True

    Args:
        source: draws observations and latents.
        recipe: optimiser, rates, steps and batch size, and whether inputs are decorrelated.
        seed: of weights and draws.
        encoder: by name.
        head: what it ends in, by name.

    Returns:
        The encoder, from observations (N, D) to (N, d).

    """
    generator = stream(seed, "supervised")
    features = source.sample(1, generator).x.shape[1]
    model: nn.Module = build_encoder(
        encoder, in_features=features, out_features=source.dim, head=head, generator=generator
    )

    def draw(n: int) -> tuple[Tensor, Tensor]:
        z: Tensor = source.marginal.sample(n, generator)
        return source.mixing(z), z

    if recipe.whiten:
        model = nn.Sequential(Whitening.of(draw(_WHITENING_INPUTS)[0]), model)
    return supervise(model, draw, recipe)


def supervise(model: nn.Module, draw: Callable[[int], tuple[Tensor, Tensor]], recipe: Recipe) -> nn.Module:
    """Train a module in place on the squared error to the latents, and freeze it.

    `draw` gives n observations and their latents.
    """
    optimizers = build_optimizers(model, nn.Identity(), recipe)
    for step in range(recipe.steps):
        x, z = draw(recipe.batch_size)
        descend(optimizers, nn.functional.mse_loss(model(x), z), step, recipe)
    return model.eval().requires_grad_(False)
