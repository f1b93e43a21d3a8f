"""Residual networks 18 and 50 with a stem for large or for small images, and a projector."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from aninfonce._validation import check_choice, check_count
from aninfonce.encoders._init import weights_from
from aninfonce.encoders._pictures import check_pictures, convolve


class ResidualBlock(nn.Module):
    """Convolutions with ReLU between them, beside a shortcut; the first one of size 3 has the stride."""

    def __init__(self, n_in: int, widths: Sequence[int], sizes: Sequence[int], stride: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        strides = [stride if place == sizes.index(3) else 1 for place in range(len(sizes))]
        for (before, after), size, step in zip(pairwise((n_in, *widths)), sizes, strides, strict=True):
            layers += convolve(before, after, step, size)
        self.residual = nn.Sequential(*layers[:-1])
        self.shortcut = _shortcut(n_in, widths[-1], stride)

    def forward(self, x: Tensor) -> Tensor:
        """Add the residual to the shortcut."""
        return torch.relu(self.residual(x) + self.shortcut(x))


# By depth: sizes of a block's kernels, how much wider its last layer is, and blocks of each stage.
_BLOCKS = {18: ((3, 3), 1, (2, 2, 2, 2)), 50: ((1, 3, 1), 4, (3, 4, 6, 3))}
# Stride of the first convolution.
_SMALL_STEMS = {"cifar": 1, "cifar-half": 2}


class ResNet(nn.Module):
    """Residual network without a classifier: images to 512 (depth 18) or 2048 (depth 50) features.

    Example:
        >>> backbone = ResNet(18, stem="cifar")
        >>> backbone(torch.zeros(2, 3, 32, 32)).shape
        torch.Size([2, 512])

    Args:
        depth: 18 or 50.
        stem: `"imagenet"` (7×7 convolution of stride 2 and a max-pool), `"cifar"` (3×3 of stride 1, no
            pool) or `"cifar-half"` (3×3 of stride 2, no pool: a quarter of the work).
        in_channels: channels of the image.
        width: channels of the first stage; each further one has twice as many, and features follow suit.
        generator: draws the weights: Kaiming-normal by fan-out, normalisation layers at the identity.

    References:
        He et al., Deep residual learning for image recognition, CVPR 2016.

    """

    def __init__(
        self,
        depth: int = 18,
        *,
        stem: str = "imagenet",
        in_channels: int = 3,
        width: int = 64,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        if depth not in _BLOCKS:
            raise ValueError(f"`depth` must be one of {', '.join(map(str, _BLOCKS))}, got {depth!r}")
        check_choice(stem, "stem", ("imagenet", *_SMALL_STEMS))
        self.in_channels = check_count(in_channels, "in_channels")
        self.width = check_count(width, "width")
        sizes, expansion, counts = _BLOCKS[depth]
        with weights_from(generator):
            self.stem = _stem(stem, in_channels, width)
            stages: list[nn.Module] = []
            n_in = width
            for stage, count in enumerate(counts):
                inner = width * 2**stage
                widths = (*(inner for _ in sizes[1:]), inner * expansion)
                blocks = []
                for index in range(count):
                    blocks.append(ResidualBlock(n_in, widths, sizes, 2 if stage > 0 and index == 0 else 1))
                    n_in = widths[-1]
                stages.append(nn.Sequential(*blocks))
            self.stages = nn.Sequential(*stages)
            for module in self.modules():
                if isinstance(module, nn.Conv2d):
                    nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
        self.out_features = n_in

    def forward(self, x: Tensor) -> Tensor:
        """Turn images (N, in_channels, H, W) into features (N, out_features), averaged over positions."""
        features: Tensor = self.stages(self.stem(check_pictures(x, self.in_channels)))
        return features.mean(dim=(2, 3))


class ProjectedEncoder(nn.Module):
    """A backbone, and a projector that is thrown away after training.

    `encoder(x)` is what the loss sees, `encoder.backbone(x)` what a probe reads.

    Example:
        >>> encoder = ProjectedEncoder(nn.Linear(8, 4), nn.Linear(4, 2))
        >>> encoder(torch.ones(3, 8)).shape, encoder.backbone(torch.ones(3, 8)).shape
        (torch.Size([3, 2]), torch.Size([3, 4]))

    Args:
        backbone: any module from observations to features (N, k).
        projector: any module from (N, k) to (N, d); `nn.Identity()` for none.

    """

    def __init__(self, backbone: nn.Module, projector: nn.Module) -> None:
        super().__init__()
        self.backbone = backbone
        self.projector = projector

    def forward(self, x: Tensor) -> Tensor:
        """Embed observations as (N, d)."""
        embedding: Tensor = self.projector(self.backbone(x))
        return embedding


def projector(
    in_features: int = 512,
    out_features: int = 256,
    *,
    hidden: int = 512,
    generator: torch.Generator | None = None,
) -> nn.Sequential:
    """Build the projector of the image experiments: linear, ReLU, linear.

    Example:
        >>> projector()
        Sequential(
          (0): Linear(in_features=512, out_features=512, bias=True)
          (1): ReLU()
          (2): Linear(in_features=512, out_features=256, bias=True)
        )

    Args:
        in_features: width of the backbone's features.
        out_features: columns of the embedding.
        hidden: width in between.
        generator: draws the weights.

    Returns:
        The module, (N, in_features) to (N, out_features).

    """
    for name, value in (("in_features", in_features), ("out_features", out_features), ("hidden", hidden)):
        check_count(value, name)
    with weights_from(generator):
        return nn.Sequential(nn.Linear(in_features, hidden), nn.ReLU(), nn.Linear(hidden, out_features))


def resnet(
    depth: int = 18,
    *,
    out_features: int | None = None,
    stem: str = "imagenet",
    in_channels: int = 3,
    hidden: int = 512,
    generator: torch.Generator | None = None,
) -> ProjectedEncoder:
    """Build a residual network with an optional projector.

    Example:
        >>> encoder = resnet(18, stem="cifar", out_features=256)
        >>> encoder(torch.zeros(2, 3, 32, 32)).shape
        torch.Size([2, 256])

    Args:
        depth: 18 or 50.
        out_features: columns of the embedding; None for no projector, the backbone's 512 or 2048 features.
        stem: as in `ResNet`.
        in_channels: channels of the image.
        hidden: width inside the projector.
        generator: draws the weights.

    """
    backbone = ResNet(depth, stem=stem, in_channels=in_channels, generator=generator)
    width = backbone.out_features
    last = (
        nn.Identity()
        if out_features is None
        else projector(width, out_features, hidden=hidden, generator=generator)
    )
    return ProjectedEncoder(backbone, last)


def _stem(name: str, n_in: int, width: int) -> nn.Sequential:
    if name in _SMALL_STEMS:
        return nn.Sequential(*convolve(n_in, width, _SMALL_STEMS[name]))
    return nn.Sequential(*convolve(n_in, width, 2, 7), nn.MaxPool2d(3, stride=2, padding=1))


def _shortcut(n_in: int, n_out: int, stride: int) -> nn.Module:
    """Pass the input on, through a 1×1 convolution where its shape changes."""
    if n_in == n_out and stride == 1:
        return nn.Identity()
    return nn.Sequential(*convolve(n_in, n_out, stride, 1)[:-1])
