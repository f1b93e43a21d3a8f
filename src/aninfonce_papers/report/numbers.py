"""Numbers as text, with as many digits as they deserve."""

from __future__ import annotations

import math


def value(number: float, spread: float | None = None) -> str:
    """Write a value, with its spread if there is one, in about four digits.

    >>> value(0.99631), value(99.4213, 0.052), value(50.0), value(0.0)
    ('0.9963', '99.42 ± 0.05', '50.00', '0.0000')
    """
    digits = _digits(number)
    text = f"{number:.{digits}f}"
    return text if not spread else f"{text} ± {spread:.{digits}f}"


def signed(number: float, like: float) -> str:
    """Write a difference with its sign, in the digits of the value that it belongs to.

    >>> signed(0.004, like=0.99), signed(-0.3, like=99.0)
    ('+0.0040', '−0.30')
    """
    text = f"{number:+.{_digits(like)}f}"
    return text.replace("-", "−")


def _digits(number: float) -> int:
    size = abs(number)
    return 4 if size < 1 else max(0, 3 - math.floor(math.log10(size)))
