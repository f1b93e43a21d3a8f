"""One Λ for all anchors: whether steps within pairs depend on where they start."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from aninfonce.alignment.joint import joint_diagonalisation
from aninfonce.diagnostics.finding import Finding, cannot_tell, judge, not_judged, titled
from aninfonce.diagnostics.frame import even_block
from aninfonce.diagnostics.intervals import Matrix
from aninfonce.diagnostics.negatives import spread_blocks
from aninfonce.diagnostics.sample import Sample
from aninfonce.diagnostics.training_facts import TrainingFacts
from aninfonce.losses import info_nce
from aninfonce.losses._batch import Reduction
from aninfonce.plots._axes import ACCENT, MAIN, Axes
from aninfonce.similarities import Factors, Similarity, per_anchor_factors

# A smaller gain in bits per pair does not matter: about that of a Λ that varies 2-fold over four columns.
_LARGE = 0.03
_BLOCK = 256
_ITERATIONS = 40
# Typical slope of log Λ for a column of unit variance: a penalty that keeps few pairs in many columns from
# being fitted too closely.
_USUAL_SLOPE = 0.5
# log Λ̂ moves by at most this much from its middle.
_FARTHEST = 4.0
# Knots of the splines that say how common a candidate is, in standard deviations.
_KNOTS = (-0.7, 0.0, 0.7)
# Directions with less than this share of the largest variance of steps hold nothing but rounding.
_RANK = 1e-10
# Groups of anchors in the plot.
_GROUPS = 8


class LogLinear(Similarity):
    """−½ΔᵀΛ(q)Δ with log Λ(q) linear in the anchor; one Λ for all where slopes are zero."""

    def __init__(self, start: Tensor) -> None:
        super().__init__()
        self.middle = nn.Parameter(start.log())
        self.slopes = nn.Parameter(torch.zeros(len(start), len(start), dtype=start.dtype))

    def concentration_at(self, z: Tensor) -> Tensor:
        """Λ of anchors, (..., d) to (..., d)."""
        return (self.middle + _FARTHEST * torch.tanh(z @ self.slopes / _FARTHEST)).exp()

    def pair(self, q: Tensor, r: Tensor) -> Tensor:
        """Similarity of matching rows: (..., d) to (...)."""
        return -0.5 * ((q - r).square() * self.concentration_at(q)).sum(dim=-1)

    def factor(self, q: Tensor, r: Tensor) -> Factors:
        """One product of 2d features."""
        return per_anchor_factors(q, r, self.concentration_at(q))


class _Commonness(nn.Module):
    """How common a candidate is: a sum of quadratic splines, one per column of unit variance."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros((2 + len(_KNOTS)) * dim, dtype=torch.float64))

    def forward(self, z: Tensor) -> Tensor:
        bends = [(z - knot).clamp_min(0.0).square() for knot in _KNOTS]
        found: Tensor = torch.cat([z, z.square(), *bends], dim=1) @ self.weights
        return found


class ByPlace(NamedTuple):
    """What a Λ that depends on the anchor gains over one Λ."""

    bits: Matrix
    """(n,) for each held-out pair."""
    concentration: Matrix
    """Λ̂ (n, d) of those pairs' anchors, in columns of unit variance."""
    steps: Matrix
    """From those anchors to their positives, (n, d), in such columns."""


def gain_by_place(
    fitted_on: tuple[Matrix, Matrix], held_out: tuple[Matrix, Matrix], *, seed: int = 0
) -> ByPlace:
    """Fit one Λ, and a log-linear Λ(z), to pairs of a frozen embedding, and compare them on other pairs.

    Both fits find each positive among the other positives of its block, and both model how common candidates
    are, by a spline of each column: so the distribution of the latents is not mistaken for a Λ that varies.
    Candidates are positives rather than anchors, since steps blur a sharp edge of the anchors' distribution,
    and a spline can follow what is blurred.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> z, noise = rng.normal(size=(2, 2000, 2))
        >>> z_pos = z + 0.3 * np.exp(0.5 * z[:, :1]) * noise
        >>> found = gain_by_place((z[:1000], z_pos[:1000]), (z[1000:], z_pos[1000:]))
        >>> bool(found.bits.mean() > 0.1)
        True

    Args:
        fitted_on: embeddings (N, d) of anchors, and of their positives.
        held_out: the same of other pairs, (M, d).
        seed: deals pairs out to blocks.

    Returns:
        The gain of each held-out pair but a few that fill no block.

    """
    axes = _axes_of_all_places(*fitted_on)
    anchors = fitted_on[0] @ axes
    centre, scale = anchors.mean(axis=0), np.maximum(anchors.std(axis=0), 1e-12)
    here, there = (
        [torch.from_numpy((part @ axes - centre) / scale) for part in parts]
        for parts in (fitted_on, held_out)
    )
    blocks, others = (_blocks(len(parts[0]), seed) for parts in (here, there))
    start = (here[0] - here[1]).square().mean(dim=0).clamp_min(1e-9).reciprocal()
    similarity, commonness = LogLinear(start), _Commonness(len(start))

    def losses(parts: list[Tensor], rows: Tensor, reduction: Reduction) -> Tensor:
        return info_nce(
            *(part[rows] for part in parts),
            similarity=similarity,
            potential=commonness,
            candidates="positives",
            reduction=reduction,
        )

    def descend(*parameters: Tensor) -> None:
        search = torch.optim.LBFGS(parameters, max_iter=_ITERATIONS, line_search_fn="strong_wolfe")

        def objective() -> Tensor:
            search.zero_grad()
            value = torch.stack([losses(here, rows, "sum") for rows in blocks]).sum()
            value = value + 0.5 * (similarity.slopes / _USUAL_SLOPE).square().sum()
            value = value / blocks.numel()
            torch.autograd.backward(value)
            return value

        search.step(objective)  # type: ignore[no-untyped-call]

    def on_held_out() -> Tensor:
        with torch.no_grad():
            return torch.cat([losses(there, rows, "none") for rows in others])

    with torch.enable_grad():
        descend(similarity.middle, commonness.weights)
    one = on_held_out()
    with torch.enable_grad():
        descend(similarity.middle, commonness.weights, similarity.slopes)
    rows = others.flatten()
    with torch.no_grad():
        concentration = similarity.concentration_at(there[0][rows])
    steps = (there[1] - there[0])[rows]
    bits = (one - on_held_out()) / np.log(2.0)
    return ByPlace(bits.numpy(), concentration.numpy(), steps.numpy())


def _axes_of_all_places(z: Matrix, z_pos: Matrix) -> Matrix:
    """Find columns, as z @ axes, in which steps are uncorrelated at either end of each direction of z.

    Where entries of one Λ are equal its axes are arbitrary, and a Λ(z) that is diagonal in some axes is not
    diagonal in others.
    """
    steps = z_pos - z
    spread, directions = np.linalg.eigh(steps.T @ steps / len(steps))
    white = directions / np.sqrt(np.maximum(spread, max(float(spread[-1]), 1e-300) * _RANK))
    steps = steps @ white
    sides = [side for column in z.T for side in (column > np.median(column), column <= np.median(column))]
    moments = [steps[side].T @ steps[side] / max(1, int(side.sum())) for side in sides]
    found: Matrix = white @ joint_diagonalisation(torch.from_numpy(np.stack(moments))).axes.numpy()
    return found


def _blocks(n: int, seed: int) -> Tensor:
    """Deal rows out to blocks (B, size) of each other's negatives."""
    return torch.from_numpy(spread_blocks(n, even_block(n, _BLOCK), seed=seed))


@titled("One Λ for all anchors")
def homogeneity(sample: Sample) -> Finding:
    """Ask whether one Λ is enough: held-out bits that a Λ which depends on the anchor gains over it.

    A concern if steps surely and clearly depend on where they start.
    """
    frame = sample.frame
    if frame is None or not (frame.z_pos - frame.z).any():
        return not_judged("there is no step from an anchor to its positive")
    found = gain_by_place(frame.fitted_on, (frame.z, frame.z_pos), seed=sample.seed)
    value = float(found.bits.mean())
    half = 1.96 * float(found.bits.std(ddof=1)) / len(found.bits) ** 0.5
    interval = value - half, value + half
    status = judge(interval, _LARGE, bad="above")
    low, high = np.quantile(found.concentration, (0.025, 0.975), axis=0)
    column = int(np.argmax(high / low))

    def draw(axis: Axes) -> None:
        order = np.array_split(np.argsort(found.concentration[:, column]), _GROUPS)
        wanted = [float(np.mean(found.concentration[rows, column] ** -1.0) ** 0.5) for rows in order]
        seen = [float(np.mean(found.steps[rows, column] ** 2) ** 0.5) for rows in order]
        one = float(np.mean(found.steps[:, column] ** 2) ** 0.5)
        axis.plot(range(1, _GROUPS + 1), wanted, color=ACCENT, label="1/√Λ̂(z)")
        axis.plot(range(1, _GROUPS + 1), seen, "o", color=MAIN, label="steps seen")
        axis.axhline(one, color="black", linewidth=1, label="one for all")
        axis.set(xlabel="anchors, from the smallest Λ̂(z) to the largest", ylabel="size of a step", ylim=0)
        axis.set_title("Direction in which Λ̂ depends most on the anchor")
        axis.legend()

    return Finding(
        measure="bits per pair that Λ̂(z) gains over one Λ̂",
        value=value,
        interval=interval,
        status=status,
        advice=_advice(status, float(high[column] / low[column]), sample.run),
        details={"varies_by": (high / low).tolist()},
        draw=draw,
    )


def _advice(status: str, factor: float, run: TrainingFacts) -> str:
    if status == "fine":
        return "Steps within pairs are alike wherever they start, as one Λ̂ assumes."
    if status == "undetermined":
        return cannot_tell("steps depend on where they start")
    found = f"Steps within pairs depend on where they start: along one direction Λ̂ varies {factor:.2g}-fold"
    if run.per_anchor:
        return f"{found}, which the Λ̂ per anchor of this run allows for."
    if run.space in ("sphere", "learnable-sphere"):
        return (
            f'{found}; train in flat space (`space="flat"`), where a curved embedding cannot be the cause,'
            ' and if it stays, with `concentration="per-anchor"`.'
        )
    return f'{found}; train with `concentration="per-anchor"`.'
