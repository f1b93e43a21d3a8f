"""What any smooth readout of the embedding recovers: the test for block-identifiability."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product

import numpy as np
import torch
from sklearn.kernel_ridge import KernelRidge
from torch import Tensor, nn

from aninfonce._seeds import stream
from aninfonce._validation import check_count, check_number, describe
from aninfonce.metrics._arrays import (
    Array,
    Matrix,
    Partitions,
    as_matrix,
    as_partitions,
    constant_columns,
    constant_flags,
    resolution,
    scale_columns,
    standardization,
)
from aninfonce.metrics.regression import R2Score, score_predictions

_TILE = 1024


def kernel_ridge_r2(
    latents: Array,
    embeddings: Array,
    *,
    partitions: Partitions | None = None,
    alphas: Sequence[float] = (1e-6, 1e-4, 1e-2, 1.0, 100.0),
    gammas: Sequence[float] = (0.01, 0.1, 0.5, 2.0),
    max_train: int = 2000,
) -> R2Score:
    """Held-out R² of kernel ridge regression (Gaussian kernel) from embeddings to latents.

    Even rows train, odd rows score. For each latent the best of the alphas and gammas is found on a quarter
    of the training rows, then all of them are fitted. Nothing is random.

    Example:
        >>> import numpy as np
        >>> z = np.random.default_rng(0).uniform(-1, 1, size=(400, 1))
        >>> kernel_ridge_r2(z, np.exp(z)).mean > 0.999
        True

    Args:
        latents: (N, k) true latents, array or tensor.
        embeddings: (N, d) embedding of the same N samples; standardised here.
        partitions: as in `linear_r2`.
        alphas: ridge penalties to choose from, at least 1e-10.
        gammas: kernel exp(−γ‖Δ‖²/d) on standardised inputs, to choose from.
        max_train: largest number of training rows, evenly spaced among the even rows; memory grows with its
            square and time with its cube.

    Returns:
        An `R2Score`; `settings` holds the alpha and gamma chosen for each latent.

    """
    for name, values, minimum in (("alphas", alphas, 1e-10), ("gammas", gammas, 0.0)):
        if len(values) == 0:
            raise ValueError(f"`{name}` must hold at least one number, got {describe(values)}")
        for value in values:
            check_number(value, name, minimum=minimum)
    data = _Readout(latents, embeddings, partitions, max_train)
    inputs, targets = data.inputs, data.targets
    best = np.full(targets.shape[1], np.inf)
    alpha, gamma = np.full_like(best, alphas[0]), np.full_like(best, gammas[0])
    for g, a in product(gammas, alphas):
        ridge = _ridge(inputs[data.fit], targets[data.fit], a, g)
        error = ((ridge.predict(inputs[data.validation]) - targets[data.validation]) ** 2).mean(axis=0)
        better = error < best
        best[better], alpha[better], gamma[better] = error[better], a, g

    predicted = np.empty((len(data.test), targets.shape[1]))
    for a, g in sorted(set(zip(alpha.tolist(), gamma.tolist(), strict=True))):
        chosen = (alpha == a) & (gamma == g)
        ridge = _ridge(inputs[data.train], targets[data.train][:, chosen], a, g)
        for start in range(0, len(data.test), _TILE):
            tile = slice(start, start + _TILE)
            predicted[tile, chosen] = ridge.predict(inputs[data.test[tile]])
    protocol = f"kernel ridge, held-out, {len(data.train)} training rows"
    return data.score(predicted, protocol, alpha=tuple(alpha.tolist()), gamma=tuple(gamma.tolist()))


def mlp_r2(
    latents: Array,
    embeddings: Array,
    *,
    partitions: Partitions | None = None,
    width: int = 128,
    epochs: int = 100,
    max_train: int = 20_000,
    generator: torch.Generator | None = None,
) -> R2Score:
    """Held-out R² of a small neural network from embeddings to latents.

    Two hidden layers, Adam with cosine decay. Even rows train, odd rows score; the epoch is the one that does
    best on a quarter of the training rows, among them epoch 0, at which the network answers with the mean.

    Example:
        >>> import numpy as np
        >>> z = np.random.default_rng(0).uniform(-1, 1, size=(400, 1))
        >>> mlp_r2(z, np.exp(z), epochs=30).mean > 0.99
        True

    Args:
        latents: (N, k) true latents, array or tensor.
        embeddings: (N, d) embedding of the same N samples; standardised here.
        partitions: as in `linear_r2`.
        width: units in each hidden layer.
        epochs: passes over the training rows.
        max_train: largest number of training rows, evenly spaced among the even rows.
        generator: draws weights and batches, on the CPU; by default a stream of its own, so that the score
            is a function of the data.

    Returns:
        An `R2Score`; `settings` holds the epoch that was kept.

    """
    check_count(width, "width")
    check_count(epochs, "epochs")
    if generator is None:
        generator = stream(0, "network")
    data = _Readout(latents, embeddings, partitions, max_train)
    x, y = torch.from_numpy(data.inputs).float(), torch.from_numpy(data.targets).float()
    parts = (values[rows] for rows in (data.fit, data.validation) for values in (x, y))
    network, epoch = _train_network(*parts, width=width, epochs=epochs, generator=generator)
    with torch.no_grad():
        tiles = torch.split(x[data.test], _TILE)
        predicted = np.concatenate([network(tile).double().numpy() for tile in tiles])
    return data.score(predicted, f"MLP, held-out, {len(data.fit)} training rows", epoch=(float(epoch),))


class _Readout:
    """What a readout is fitted to and scored on: even rows train it, odd rows score it.

    Attributes:
        inputs: embedding (N, d), standardised on the training rows; what is constant there is zero.
        targets: latents (N, k), likewise.
        train: training rows, `max_train` of them at most.
        test: rows that are scored.
        fit: three quarters of the training rows.
        validation: the rest of them, on which settings are chosen.

    """

    def __init__(
        self, latents: Array, embeddings: Array, partitions: Partitions | None, max_train: int
    ) -> None:
        z = as_matrix(latents, "latents", min_rows=8)
        e = as_matrix(embeddings, "embeddings", rows=("latents", len(z)))
        self._groups = as_partitions(partitions, z.shape[1])
        check_count(max_train, "max_train", minimum=4)
        rows = np.arange(len(z))
        self.train, self.test = rows[::2], rows[1::2]
        if len(self.train) > max_train:
            self.train = self.train[np.linspace(0, len(self.train) - 1, max_train).astype(np.intp)]
        validation = np.arange(len(self.train)) % 4 == 3
        self.fit, self.validation = self.train[~validation], self.train[validation]
        self._z, e, self._rounding = scale_columns(z), scale_columns(e), resolution(latents)
        self._mean, self._inverse, _ = standardization(self._z[self.train], self._rounding)
        self.targets = (self._z - self._mean) * self._inverse
        mean, inverse, _ = standardization(e[self.train], resolution(embeddings))
        self.inputs = (e - mean) * inverse
        self._constant = constant_columns(e, resolution(embeddings))

    def score(self, predicted: Matrix, protocol: str, **settings: tuple[float, ...]) -> R2Score:
        """Score standardised predictions of the test rows in the units of the scaled latents."""
        # A latent that did not vary in training is predicted by its mean, whatever it does later.
        deviation = np.divide(1.0, self._inverse, out=np.zeros_like(self._inverse), where=self._inverse > 0)
        truth = self._z[self.test]
        return score_predictions(
            truth,
            predicted * deviation + self._mean,
            self._groups,
            np.ptp(truth, axis=0) <= 4 * self._rounding,
            protocol=protocol,
            rank_deficient=bool(self._constant.any()),
            flags=constant_flags("embedding dimensions", self._constant),
            settings=settings,
        )


def _ridge(inputs: Matrix, targets: Matrix, alpha: float, gamma: float) -> KernelRidge:
    return KernelRidge(alpha=alpha, kernel="rbf", gamma=gamma / inputs.shape[1]).fit(inputs, targets)


def _train_network(
    x: Tensor,
    y: Tensor,
    x_validation: Tensor,
    y_validation: Tensor,
    *,
    width: int,
    epochs: int,
    generator: torch.Generator,
) -> tuple[nn.Sequential, int]:
    """Train on (x, y) and return the network as it was after its best epoch, and that epoch."""
    sizes = (x.shape[1], width, width, y.shape[1])
    layers: list[nn.Module] = []
    for n_in, n_out in pairwise(sizes):
        # made on the meta device, a layer leaves the global random state alone
        layer = nn.Linear(n_in, n_out, device="meta").to_empty(device="cpu")
        nn.init.kaiming_normal_(layer.weight, nonlinearity="relu", generator=generator)
        nn.init.zeros_(layer.bias)
        layers += [layer, nn.ReLU()]
    nn.init.zeros_(layers[-2].weight)  # type: ignore[arg-type]
    network = nn.Sequential(*layers[:-1])

    batch = min(256, max(16, len(x) // 16))
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs * -(-len(x) // batch))

    def validate() -> float:
        with torch.no_grad():
            return float(((network(x_validation) - y_validation) ** 2).mean())

    best, best_epoch = validate(), 0
    state = {name: value.clone() for name, value in network.state_dict().items()}
    for epoch in range(1, epochs + 1):
        for rows in torch.split(torch.randperm(len(x), generator=generator), batch):
            optimizer.zero_grad()
            ((network(x[rows]) - y[rows]) ** 2).mean().backward()
            optimizer.step()
            schedule.step()
        error = validate()
        if error < best:
            best, best_epoch = error, epoch
            state = {name: value.clone() for name, value in network.state_dict().items()}
    network.load_state_dict(state)
    return network, best_epoch
