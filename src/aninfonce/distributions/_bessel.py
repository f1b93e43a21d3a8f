"""Logarithm of the modified Bessel function, for any order and argument a sphere can ask for."""

from __future__ import annotations

import math

import numpy as np
from scipy import special


def log_bessel_ratio(order: float, x: float) -> float:
    """Compute log(I_ν(x) / xᵛ), finite at x = 0 and free of overflow.

    >>> math.isclose(log_bessel_ratio(0.5, 2.0), math.log(math.sqrt(2 / math.pi) * math.sinh(2.0) / 2.0))
    True

    Args:
        order: ν ≥ 0.
        x: argument ≥ 0.

    Returns:
        log I_ν(x) − ν log x.

    References:
        NIST Digital Library of Mathematical Functions, 10.25.2 (series) and 10.41.3 (large order).

    """
    at_zero = -order * math.log(2) - math.lgamma(order + 1)
    if x * x < 4 * (order + 1):
        # I_ν(x) = (x/2)ᵛ/Γ(ν+1) · ₀F₁(ν+1; x²/4), whose series is short here and has no cancellation.
        return at_zero + math.log(float(special.hyp0f1(order + 1, x * x / 4)))
    scaled = float(special.ive(order, x))
    if scaled > 1e-280:
        return math.log(scaled) + x - order * math.log(x)
    return _log_bessel_large_order(order, x) - order * math.log(x)


def _log_bessel_large_order(order: float, x: float) -> float:
    """Debye's uniform expansion; only used where the order is in the hundreds."""
    z = x / order
    root = math.sqrt(1 + z * z)
    p = 1 / root
    eta = root + math.log(z / (1 + root))
    u1 = (3 * p - 5 * p**3) / 24
    u2 = (81 * p**2 - 462 * p**4 + 385 * p**6) / 1152
    u3 = (30375 * p**3 - 369603 * p**5 + 765765 * p**7 - 425425 * p**9) / 414720
    series = np.log1p(u1 / order + u2 / order**2 + u3 / order**3)
    return order * eta - 0.5 * math.log(2 * math.pi * order * root) + float(series)
