"""SlowVAE for rows of numbers: the library's divergences around two small networks.

The library's own SlowVAE is made of the papers' convolutions for pictures of 64 × 64; rows need a Gaussian
likelihood and networks of linear layers.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from aninfonce._seeds import derive_seed, global_stream
from aninfonce_papers.worlds.vae.divergences import kl_to_normal, slowness
from benchmarks.recordings.linear import Transform

Array = npt.NDArray[np.floating]


def _network(n_in: int, n_out: int, width: int) -> nn.Sequential:
    layers = [nn.Linear(n_in, width), nn.GELU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, n_out)]
    return nn.Sequential(*layers)


def slow_vae(
    x: Array,
    x_pos: Array,
    dim: int,
    *,
    seed: int,
    gamma: float = 10.0,
    rate: float = 6.0,
    deviation: float = 0.1,
    steps: int = 4000,
    batch: int = 256,
    width: int = 128,
) -> Transform:
    """Train a SlowVAE on pairs of rows.

    Args:
        x: rows (N, D).
        x_pos: the rows that follow (N, D).
        dim: d.
        seed: of weights, batches and noise.
        gamma: weight of the Laplace transition; its paper's value by default, β is 1.
        rate: inverse scale of the transition.
        deviation: of the Gaussian likelihood, in standard deviations of a channel.
        steps: of Adam, the rate falling from 1e-3 to 0 along a cosine.
        batch: pairs per step.
        width: of both hidden layers of both networks.

    Returns:
        The map from rows to posterior means (N, d).

    References:
        Klindt et al., "Towards nonlinear disentanglement in natural data with temporal sparse coding" (2021).

    """
    mean, scale = x.mean(axis=0), x.std(axis=0)
    first, second = (torch.from_numpy(((rows - mean) / scale).astype(np.float32)) for rows in (x, x_pos))
    with global_stream(derive_seed(seed, "slow-vae")):
        encoder, decoder = _network(x.shape[1], 2 * dim, width), _network(dim, x.shape[1], width)
        optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-3)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
        for _ in range(steps):
            chosen = torch.randint(len(first), (batch,))
            rows = torch.cat([first[chosen], second[chosen]])
            centre, log_variance = encoder(rows).chunk(2, dim=1)
            drawn = centre + torch.randn_like(centre) * (log_variance / 2).exp()
            missed = (decoder(drawn) - rows).square().sum() / (2 * deviation**2)
            normal = kl_to_normal(centre, log_variance).sum() / 2
            loss = (missed + normal + gamma * slowness(centre, log_variance, rate, once=True)) / batch
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()

    @torch.no_grad()
    def transform(rows: Array) -> Array:
        inputs = torch.from_numpy(((rows - mean) / scale).astype(np.float32))
        return encoder(inputs)[:, :dim].numpy()

    return transform
