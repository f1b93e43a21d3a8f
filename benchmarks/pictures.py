"""Pictures that the networks of "overnight" learn from in a second of one core, and what drawing costs.

    python -m benchmarks.pictures

One thread; forward and backward of 512 pictures, the best of several rounds in turn, in CPU time: in float32
and bfloat16, with the usual order of memory and with the channels last.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from aninfonce.augment import simclr
from aninfonce.encoders import GlimpseNet, ResNet, SmallConvNet
from aninfonce_papers.models.quick_resnet import QuickResNet
from aninfonce_papers.worlds.scenes import SceneRenderer, can_render
from benchmarks.rows import command
from benchmarks.timing import best_seconds

PICTURES = 512
# What laptop and overnight train, with the side of its pictures.
NETWORKS: dict[str, tuple[Callable[[], nn.Module], int]] = {
    "cifar10, laptop (a quarter of a ResNet18)": (lambda: ResNet(18, stem="cifar-half", width=16), 32),
    "cifar10, overnight (QuickResNet)": (lambda: QuickResNet(features=512), 24),
    "table4, laptop (SmallConvNet)": (lambda: SmallConvNet(10, width=16), 48),
    "table4, overnight (GlimpseNet)": (lambda: GlimpseNet(10), 64),
}
ORDERS = {"usual order": torch.contiguous_format, "channels last": torch.channels_last}


def learner(
    build: Callable[[], nn.Module], x: Tensor, order: torch.memory_format, *, short: bool
) -> Callable[[], None]:
    """Give one step's work on pictures, without the loss and the optimiser."""
    network = build()
    network.order = order  # type: ignore[assignment]  # those that choose one for themselves
    network.to(memory_format=order)  # type: ignore[call-overload]
    pictures = x.contiguous(memory_format=order)

    def step() -> None:
        with torch.autocast("cpu", torch.bfloat16, enabled=short):
            features: Tensor = network(pictures)
        features.float().square().sum().backward()  # type: ignore[no-untyped-call]

    return step


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    random = torch.Generator().manual_seed(0)
    for name, (build, side) in NETWORKS.items():
        x = torch.rand(PICTURES, 3, side, side, generator=random)
        works: dict[str, Callable[[], object]] = {
            f"{precision}, {order}": learner(build, x, memory, short=precision == "bfloat16")
            for precision in ("float32", "bfloat16")
            for order, memory in ORDERS.items()
        }
        print(name)
        found = best_seconds(works, rounds)
        slowest = found["float32, usual order"]
        for way, seconds in found.items():
            print(f"  {way:24s} {PICTURES / seconds:6.0f} pictures/s   × {slowest / seconds:.2f}")
    images, views = torch.rand(PICTURES, 3, 32, 32, generator=random), simclr("cifar10")
    drawing: dict[str, Callable[[], object]] = {"views of CIFAR-10": lambda: views(images, 0)}
    if can_render():
        renderer, latents = SceneRenderer(64), np.random.default_rng(0).uniform(-1, 1, (PICTURES, 10))
        drawing["scenes of 64 pixels"] = lambda: renderer.render(latents)
    print("drawing")
    for way, seconds in best_seconds(drawing, rounds).items():
        print(f"  {way:24s} {PICTURES / seconds:6.0f} pictures/s")


if __name__ == "__main__":
    main()
