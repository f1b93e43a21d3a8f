"""Where an embedding lives: the last step of an encoder, from R^d onto a sphere or into a box."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from aninfonce._validation import check_choice, check_count, check_number, describe
from aninfonce.spaces import within_squares

HEADS = ("none", "sphere", "learnable-sphere", "box")


def to_sphere(x: Tensor) -> Tensor:
    """Scale each row to unit length, in float32 or better.

    A row of zeros stays zero, and the gradient of a row that is nearly zero is bounded so that it fits the
    type of the input.

    Example:
        >>> to_sphere(torch.tensor([[3.0, 4.0], [0.0, 0.0]]))
        tensor([[0.6000, 0.8000],
                [0.0000, 0.0000]])

    Args:
        x: (..., d), any floating-point type.

    Returns:
        (..., d). Half precision comes back as it came, except under autocast, where the rows stay in float32
        as they do in torch's own normalising operations.

    """
    # Below this length a row is divided by the floor instead: 1/floor times a gradient must not overflow.
    floor = max(1e-6, torch.finfo(x.dtype).tiny)
    wide = within_squares(_widen(x))
    return _narrow(wide / torch.linalg.vector_norm(wide, dim=-1, keepdim=True).clamp_min(floor), x)


class SphereHead(nn.Module):
    """Project onto the sphere of a fixed radius.

    Example:
        >>> SphereHead()(torch.tensor([[0.0, 2.0]]))
        tensor([[0., 1.]])

    Args:
        radius: of the sphere.

    """

    def __init__(self, radius: float = 1.0) -> None:
        super().__init__()
        self.radius = check_number(radius, "radius", minimum=0.0, exclusive=True)

    def forward(self, x: Tensor) -> Tensor:
        """Project (N, d) onto the sphere."""
        unit = to_sphere(x)
        return unit if self.radius == 1.0 else unit * self.radius

    def extra_repr(self) -> str:
        """Show the radius."""
        return f"radius={self.radius:g}"


class LearnableSphereHead(nn.Module):
    """Project onto a sphere whose radius is trained, as exp(log_radius), so that it stays positive.

    Example:
        >>> head = LearnableSphereHead(radius=2.0)
        >>> head(torch.tensor([[0.0, 5.0]])).tolist(), round(head.radius.item(), 6)
        ([[0.0, 2.0]], 2.0)

    Args:
        radius: at the start of training.

    """

    def __init__(self, radius: float = 1.0) -> None:
        super().__init__()
        start = math.log(check_number(radius, "radius", minimum=0.0, exclusive=True))
        self.log_radius = nn.Parameter(torch.tensor(start))

    @property
    def radius(self) -> Tensor:
        """The radius, a tensor of shape ()."""
        return self.log_radius.exp()

    def forward(self, x: Tensor) -> Tensor:
        """Project (N, d) onto the sphere."""
        unit = to_sphere(x)
        return unit * self.radius.to(unit.dtype)


class BoxHead(nn.Module):
    """Squash into the box [0, bound] by a sigmoid; the bound of each dimension is trained, as exp(log_bound).

    Example:
        >>> BoxHead(2)(torch.tensor([[0.0, 100.0]])).tolist()
        [[0.5, 1.0]]

    Args:
        features: d.
        bound: of every dimension at the start of training.

    """

    def __init__(self, features: int, bound: float = 1.0) -> None:
        super().__init__()
        start = math.log(check_number(bound, "bound", minimum=0.0, exclusive=True))
        self.log_bound = nn.Parameter(torch.full((check_count(features, "features"),), start))

    @property
    def bound(self) -> Tensor:
        """The upper bounds (d,)."""
        return self.log_bound.exp()

    def forward(self, x: Tensor) -> Tensor:
        """Squash (N, d) into the box."""
        if x.shape[-1] != len(self.log_bound):
            raise ValueError(f"`x` must have shape (N, {len(self.log_bound)}), got {tuple(x.shape)}")
        wide = _widen(x)
        return _narrow(wide.sigmoid() * self.bound.to(wide.dtype), x)


def build_head(head: str | nn.Module, features: int | None = None) -> nn.Module:
    """Make an output head by name, or take a module as it is.

    Example:
        >>> build_head("box", 3).bound
        tensor([1., 1., 1.], grad_fn=<ExpBackward0>)

    Args:
        head: `"none"`, `"sphere"` (unit), `"learnable-sphere"`, `"box"` (learnable), or any module from
            (N, d) to (N, d).
        features: d; only the head "box" needs it.

    """
    if isinstance(head, nn.Module):
        return head
    if not isinstance(head, str):
        raise ValueError(
            f"`head` must be a module or one of {', '.join(map(repr, HEADS))}, got {describe(head)}"
        )
    check_choice(head, "head", HEADS)
    if head == "sphere":
        return SphereHead()
    if head == "learnable-sphere":
        return LearnableSphereHead()
    if head == "box":
        if features is None:
            raise ValueError("`features` must be given for the head 'box', got None")
        return BoxHead(features)
    return nn.Identity()


def _widen(x: Tensor) -> Tensor:
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def _narrow(wide: Tensor, like: Tensor) -> Tensor:
    return wide if torch.is_autocast_enabled(like.device.type) else wide.to(like.dtype)
