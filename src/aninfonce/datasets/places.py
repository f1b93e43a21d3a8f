"""Where fetched data sets are kept, and whether one is there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aninfonce.datasets.catalog import DatasetInfo

# Describes a data set; in its folder once that is complete.
ABOUT = "about.json"


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
