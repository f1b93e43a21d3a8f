"""Which space the latents live in, read off an embedding that was trained in Rᵈ.

Every run on the sphere begins in Rᵈ (`map_to_sphere.py`). With a candidate potential, what it learns there
is right for any marginal distribution: the latents up to an affine map. So the first half of the steps also
shows where they live. Latents on a sphere give an ellipsoid, a shell with nothing inside; others fill their
space.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor

from aninfonce._validation import check_matrix
from aninfonce.alignment.sphering import sphering_map

# Spread of the radius, as a share of a Gaussian cloud's, below which the embedding is a shell. A uniform box
# has 0.63 in any number of dimensions; embeddings of the papers' spheres have 0.1 to 0.2 after 500 steps.
SHELL = 0.4
# Sixth moments between which a column of unit variance counts as uniform. That has 3.86, a sine 2.5, a
# triangle 7.7, and two Gaussian bumps with the fourth moment of a uniform column 4.4.
UNIFORM = (3.4, 4.3)


@dataclass(frozen=True)
class SpaceChoice:
    """Where the latents live, and why.

    Attributes:
        space: "sphere" if the embedding is a shell, "flat" if it fills its space, "box" if it fills it
            evenly between two ends in each column.
        radial_spread: standard deviation of the radius over its mean, once the embedding is as round as an
            affine map can make it, as a share of that of a Gaussian cloud.
        limit: below which the embedding counts as a shell.
        sixth_moments: of each finished column, of unit variance: 15 for a Gaussian one, 27/7 for a uniform
            one; empty if it was not looked at.

    """

    space: Literal["flat", "sphere", "box"]
    radial_spread: float
    limit: float = SHELL
    sixth_moments: tuple[float, ...] = ()


@torch.no_grad()
def choose_space(h: Tensor) -> SpaceChoice:
    """Tell a shell from a cloud by how much the radius varies.

    Example:
        >>> z = torch.randn(4000, 5, generator=torch.Generator().manual_seed(0))
        >>> choose_space(z).space, choose_space(z / z.norm(dim=1, keepdim=True) + 3).space
        ('flat', 'sphere')

    Args:
        h: embeddings in Rᵈ (N, d), preferably of held-out rows.

    Returns:
        The space and the evidence. A single column, or too few rows to tell, is flat.

    """
    h = check_matrix(h, "h").double()
    n, d = h.shape
    if d < 2 or n < 20 * d:
        return SpaceChoice("flat", math.nan)
    radius = sphering_map(h)(h).norm(dim=1)
    # The radius of a Gaussian cloud varies by 1/√(2d) of its mean, to a good approximation.
    spread = float(radius.std() / radius.mean()) * math.sqrt(2 * d)
    return SpaceChoice("sphere" if spread < SHELL else "flat", spread)


def look_for_box(choice: SpaceChoice, sixth_moments: Sequence[float]) -> SpaceChoice:
    """Call a flat space a box if each of its finished columns is uniform.

    Nothing has to be retrained: the theorem of flat space holds in a box, and uniform factors are so far
    from Gaussian that those of equal Λ̂ are told apart by independence.

    Example:
        >>> look_for_box(SpaceChoice("flat", 0.6), [3.9, 3.8]).space
        'box'
        >>> look_for_box(SpaceChoice("flat", 0.9), [3.9, 15.0]).space
        'flat'

    Args:
        choice: flat or sphere.
        sixth_moments: (d,) of the columns, preferably on held-out rows.

    Returns:
        The choice with this evidence.

    """
    values = tuple(float(value) for value in sixth_moments)
    uniform = all(UNIFORM[0] < value < UNIFORM[1] for value in values)
    space: Literal["flat", "sphere", "box"] = "box" if choice.space == "flat" and uniform else choice.space
    return replace(choice, space=space, sixth_moments=values)
