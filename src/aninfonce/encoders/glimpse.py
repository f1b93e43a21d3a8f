"""A convolutional network that finds an object in a picture, and then looks at it more closely."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from aninfonce._validation import check_count
from aninfonce.encoders._init import weights_from
from aninfonce.encoders._pictures import check_pictures, convolve, fastest_order

_GRID = 4
_FEATURES = 128


def attended_place(scores: Tensor) -> Tensor:
    """Give the mean place (N, 2) under a softmax over all pixels of scores (N, H, W), with gradients.

    Places are down and to the right, from −1 to 1 at the edges of the picture.

    >>> scores = torch.zeros(1, 4, 4)
    >>> scores[0, 0, 3] = 100.0
    >>> attended_place(scores)
    tensor([[-0.7500,  0.7500]])
    """
    rows, columns = scores.shape[1:]
    if scores.dtype in (torch.float16, torch.bfloat16):
        scores = scores.float()  # a place of 8 bits would be off by a pixel's share
    share = scores.flatten(1).softmax(dim=1).view_as(scores)
    # Sums rather than products of matrices, which autocast would round.
    down = (share.sum(dim=2) * _centres(rows, share)).sum(dim=1)
    right = (share.sum(dim=1) * _centres(columns, share)).sum(dim=1)
    return torch.stack((down, right), dim=1)


def glimpse(x: Tensor, place: Tensor, window: int) -> Tensor:
    """Cut a square of `window` pixels out of each picture, with gradients to its place.

    Pixels are interpolated linearly; beyond the edge of the picture, the edge goes on.

    >>> x = torch.arange(16.0).view(1, 1, 4, 4)
    >>> glimpse(x, torch.tensor([[-0.5, 0.5]]), 2)
    tensor([[[[2., 3.],
              [6., 7.]]]])

    References: Jaderberg et al., Spatial transformer networks, NeurIPS 2015.
    """
    steps = _centres(window, place)
    down = place[:, :1] + steps * (window / x.shape[2])
    right = place[:, 1:] + steps * (window / x.shape[3])
    grid = torch.stack(
        (right[:, None, :].expand(-1, window, -1), down[:, :, None].expand(-1, -1, window)), dim=-1
    )
    return nn.functional.grid_sample(x, grid, align_corners=False, padding_mode="border")


def _centres(count: int, like: Tensor) -> Tensor:
    """Give the middles of pixels (count,) between −1 and 1."""
    return (2 * torch.arange(count, dtype=like.dtype, device=like.device) + 1) / count - 1


class GlimpseNet(nn.Module):
    """See the whole picture at half its size, find the place that matters, and look there at full size.

    Turns of a small object are a matter of few pixels. A network that sees all of the picture alike has to
    learn them again wherever the object can be; this one learns them once, in the middle of its window.
    The place needs no labels: it is learned through the loss.

    Example:
        >>> GlimpseNet(10)(torch.zeros(2, 3, 64, 64)).shape
        torch.Size([2, 10])

    Args:
        out_features: columns of the embedding.
        in_channels: channels of the image.
        width: channels after the first convolution of the whole picture; twice as many in the window.
        window: pixels on a side of the closer look; pictures must not be smaller.
        generator: draws the weights.

    References:
        Mnih et al., Recurrent models of visual attention, NeurIPS 2014 (the idea of glimpses); Jaderberg et
        al., Spatial transformer networks, NeurIPS 2015 (gradients to the place).

    """

    def __init__(
        self,
        out_features: int,
        *,
        in_channels: int = 3,
        width: int = 16,
        window: int = 28,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.in_channels = check_count(in_channels, "in_channels")
        self.out_features = check_count(out_features, "out_features")
        self.window = check_count(window, "window")
        check_count(width, "width")
        w, squares = width, _GRID**2
        with weights_from(generator):
            self.overview = nn.Sequential(*convolve(in_channels, w, 2), *convolve(w, w, 1))
            self.attention = nn.Conv2d(w, 1, 3, padding=1)
            self.surroundings = nn.Sequential(
                *convolve(w, 2 * w, 2), *convolve(2 * w, 4 * w, 2), nn.AdaptiveAvgPool2d(_GRID)
            )
            self.closer = nn.Sequential(
                *convolve(in_channels, 2 * w, 2),
                *convolve(2 * w, 4 * w, 1),
                *convolve(4 * w, 4 * w, 2),
                *convolve(4 * w, 8 * w, 2),
                nn.AdaptiveAvgPool2d(_GRID),
            )
            self.last = nn.Sequential(
                nn.Linear((4 + 8) * w * squares + 2, _FEATURES),
                nn.LeakyReLU(),
                nn.Linear(_FEATURES, out_features),
            )
        self.order = fastest_order(width)
        self.to(memory_format=self.order)  # type: ignore[call-overload]

    def forward(self, x: Tensor) -> Tensor:
        """Embed images (N, in_channels, H, W) as (N, out_features)."""
        maps, place = self._look(x)
        window = glimpse(x, place, self.window).contiguous(memory_format=self.order)
        seen = (self.surroundings(maps).flatten(1), self.closer(window).flatten(1), place)
        embedding: Tensor = self.last(torch.cat(seen, dim=1))
        return embedding

    def place(self, x: Tensor) -> Tensor:
        """Tell where in images (N, in_channels, H, W) it looks: (N, 2), as in `attended_place`."""
        return self._look(x)[1]

    def _look(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Give the maps of the whole picture, and the place to look at."""
        half = nn.functional.avg_pool2d(check_pictures(x, self.in_channels, least=self.window), 2).contiguous(
            memory_format=self.order
        )
        maps: Tensor = self.overview(half)
        return maps, attended_place(self.attention(maps)[:, 0])
