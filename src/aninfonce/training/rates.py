"""Rates of the recipe "fast", multiplied; the share of them at which InfoNCE stands beside AnInfoNCE."""

from __future__ import annotations

from aninfonce.recipe import Recipe

# InfoNCE does not care about style: what the start had of it only fades, the better the smaller the rates.
# This share of the recipe's made the results of `fig2`, and holds wherever InfoNCE stands beside AnInfoNCE.
INFONCE_RATES = 0.3


def scaled_rates(share: float) -> dict[str, float]:
    """Give the rates of the recipe "fast", multiplied.

    >>> scaled_rates(INFONCE_RATES)["adam_lr"]
    0.0024
    """
    names = ("muon_lr", "adam_lr", "concentration_lr")
    return {name: share * Recipe.model_fields[name].default for name in names}
