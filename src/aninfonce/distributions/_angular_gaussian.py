"""Exact draws from the Fisher–Bingham law by rejection from a folded angular central Gaussian.

Target on the unit sphere, with Λ in the ½ convention: f(x) = exp(−½xᵀΛx + zᵀΛx). With u = Λz/2,
q = uᵀx and any c > 0 the inequality 2q ≤ c + q²/c splits it into

    f(x) = e^c · e^{−w} · e^{−(q−c)²/c},    w = ½xᵀΛx − q²/c.

The middle factor is even in x and has the angular-central-Gaussian envelope

    e^{−w} ≤ e^{−(d−t)/2} · (d/Q)^{d/2},    Q = 2w + t = xᵀΩx,    Ω = diag(Λ + t) − (2/c)uuᵀ,

for any t that leaves Ω positive definite; tr Ω⁻¹ = 1 makes it tightest. The last factor picks one
of x and −x and thins by how far the pair is from its best. The choice of t and c only
affects speed: the draws are exact for any of them.

Everything runs in (d, N) layout: sums over the d coordinates are then vectorised over anchors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from aninfonce.distributions.base import sample_by_rejection

# Anchors handled at once: the working set of a block stays in the cache.
_BLOCK_ENTRIES = 1 << 17


@dataclass(frozen=True)
class Envelope:
    """The proposal's parameters for each anchor; all of shape (N,) but `u` and `root` (d, N).

    Attributes:
        t: shift that makes tr Ω⁻¹ ≈ 1.
        u: Λz/2.
        root: 1/√(Λ + t).
        k: K = Σu²/(Λ + t).
        slack: c − 2K > 0, kept on its own because it is a small difference when K is large.
        log_peak: maximum of the folded factor, so that acceptance never exceeds one.

    """

    t: Tensor
    u: Tensor
    root: Tensor
    k: Tensor
    slack: Tensor
    log_peak: Tensor

    @property
    def c(self) -> Tensor:
        """The constant c = 2K + slack."""
        return 2 * self.k + self.slack


def fit_envelope(loc: Tensor, concentration: Tensor) -> Envelope:
    """Find the (nearly) tightest envelope for each anchor.

    Args:
        loc: anchors (N, d) on the unit sphere.
        concentration: diagonal of Λ (d,), not all zero.

    Returns:
        The envelope of each anchor.

    """
    lam = concentration[:, None]
    u = loc.T.contiguous() * (lam / 2)
    squares = u.square()
    lowest = concentration.min()
    # Between zero and d above the pole at −λ_min; the mean anchor's solution is a good start.
    shift = _solve_shift(_mean_squares(concentration), lam, loc.new_full((1,), loc.shape[1] / 2), steps=20)
    shift = _solve_shift(squares, lam, shift.expand(len(loc)), steps=3)
    t = shift - lowest
    inverse = 1 / (lam + t)
    k = (squares * inverse).sum(dim=0).clamp_min(torch.finfo(loc.dtype).tiny * 1e6)
    slack = k.sqrt() / ((k + 1).sqrt() + k.sqrt())
    return Envelope(t, u, inverse.sqrt(), k, slack, _folded_peak(2 * k + slack))


def _mean_squares(concentration: Tensor) -> Tensor:
    """u² averaged over uniform anchors, (d, 1)."""
    return (concentration.square() / (4 * len(concentration)))[:, None]


def _solve_shift(squares: Tensor, lam: Tensor, shift: Tensor, *, steps: int) -> Tensor:
    """Take Newton steps towards tr Ω⁻¹ = 1 in s = t + λ_min > 0.

    On 1/tr rather than tr: it is nearly linear in s, as in trust-region solvers.
    """
    gaps = lam - lam.min()
    for _ in range(steps):
        inverse = 1 / (gaps + shift)
        weighted = squares * inverse
        k = weighted.sum(dim=0).clamp_min(1e-30)
        weighted = weighted * inverse
        s2 = weighted.sum(dim=0)
        s3 = (weighted * inverse).sum(dim=0)
        ratio = (1 + 1 / k).sqrt()
        trace = inverse.sum(dim=0) + 2 * s2 * (1 + ratio)
        slope = -inverse.square().sum(dim=0) - 4 * s3 * (1 + ratio) + (s2 / k).square() / ratio
        proposal = shift + trace * (1 - trace) / slope
        shift = torch.maximum(proposal, shift / 8)
    return shift


def _folded_peak(c: Tensor) -> Tensor:
    """Maximum over q of log[e^{−(q−c)²/c} + e^{−(q+c)²/c}].

    At q = cr it equals log(2cosh 2cr) − c(r² + 1), stationary where s = 2c·tanh s for s = 2cr. That is
    convex in s > 0, so Newton from the right end s = 2c descends to the root without overshoot.
    """
    wide = c.double()
    s = 2 * wide
    for _ in range(16):
        tanh = s.tanh()
        slope = 1 - 2 * wide * (1 - tanh.square())
        step = (s - 2 * wide * tanh) / slope
        # For c ≤ ½ the root is s = 0 and the slope vanishes there.
        s = torch.where(slope > 1e-12, (s - step).clamp_min(0), s)
    peak = torch.nn.functional.softplus(-2 * s) + s - s.square() / (4 * wide) - wide
    return peak.to(c.dtype)


def sample(loc: Tensor, concentration: Tensor, generator: Generator | None) -> Tensor:
    """Draw one Fisher–Bingham point around each anchor.

    Args:
        loc: anchors (N, d) on the unit sphere.
        concentration: diagonal of Λ (d,), not all zero.
        generator: source of randomness.

    Returns:
        Tensor (N, d).

    """
    block = max(1, _BLOCK_ENTRIES // loc.shape[1])
    return torch.cat([_sample_block(part, concentration, generator) for part in torch.split(loc, block)])


def _sample_block(loc: Tensor, concentration: Tensor, generator: Generator | None) -> Tensor:
    envelope = fit_envelope(loc, concentration)
    d = loc.shape[1]
    scale = (2 / envelope.slack).sqrt()
    scalars = torch.stack([envelope.k, envelope.slack, scale, envelope.log_peak])

    def propose(rows: Tensor) -> tuple[Tensor, Tensor]:
        u, root = envelope.u[:, rows], envelope.root[:, rows]
        k, slack, a, log_peak = scalars[:, rows]
        c = 2 * k + slack
        noise = torch.randn((d + 1, len(rows)), generator=generator, dtype=loc.dtype, device=loc.device)
        uniform = torch.rand((2, len(rows)), generator=generator, dtype=loc.dtype, device=loc.device)
        inner, extra = noise[:d], noise[d]
        tilted = u * root
        # y ~ N(0, Ω⁻¹) by Sherman–Morrison: a diagonal part and one rank-one direction.
        y = root * (inner + (a * extra) * tilted)
        norm2 = y.square().sum(dim=0)
        g = (tilted * inner).sum(dim=0)
        # yᵀΩy with the large terms cancelled by hand, so that float32 serves at any concentration.
        energy = (
            inner.square().sum(dim=0)
            - 2 / c * g.square()
            + 2 * extra.square() * k / c
            + 2 * a * extra * g * slack / c
        )
        quad = energy / norm2
        x = y * norm2.rsqrt()
        q = (u * x).sum(dim=0)
        log_keep, log_flip = -(q - c).square() / c, -(q + c).square() / c
        sign = torch.where(uniform[0] < torch.sigmoid(log_flip - log_keep), -1.0, 1.0)
        log_accept = (
            0.5 * (d - quad) + d / 2 * (quad / d).log() + torch.logaddexp(log_keep, log_flip) - log_peak
        )
        return (x * sign).T, uniform[1].log() <= log_accept

    return sample_by_rejection(len(loc), propose, loc.device, what="FisherBingham")


def log_acceptance(envelope: Envelope, concentration: Tensor, log_mean: Tensor) -> Tensor:
    """Predict the log-probability that a proposal is accepted, in closed form.

    Args:
        envelope: of N anchors.
        concentration: diagonal of Λ (d,).
        log_mean: log of the mean of f(x) = exp(−½xᵀΛx + zᵀΛx) over the sphere (N,).

    Returns:
        Tensor (N,).

    """
    d = len(concentration)
    diagonal = concentration[:, None] + envelope.t
    log_det = diagonal.log().sum(dim=0) + (envelope.slack / envelope.c).log()
    return (
        0.5 * log_det
        - d / 2 * math.log(d)
        + (d - envelope.t) / 2
        - envelope.c
        + math.log(2)
        + log_mean
        - envelope.log_peak
    )
