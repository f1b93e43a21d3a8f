"""All studies by name."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from aninfonce._validation import check_choice

if TYPE_CHECKING:
    from aninfonce.studies.base import Study

# Each module of that name, with _ for -, holds one `STUDY`; loaded when asked for, so that listing the names
# costs nothing.
_NAMES = (
    "fig2",
    "fig3",
    "fig4",
    "fig5",
    "fig6-images",
    "fig6-uniformity",
    "fig8",
    "fig9",
    "fig10",
    "fig11",
    "fig12",
    "theorem",
    "exactness",
    "conditional-form",
    "nonuniform",
    "mnist-augmentations",
    "domain",
    "augmentation-strength",
    "editing",
    "table1",
    "table2",
    "table3",
    "table4",
    "causal3dident",
    "marginals",
    "cifar10",
    "timescales",
    "broken-assumptions",
)
# Need images that cannot be fetched: left out where all studies are run.
_ON_OWN_DATA = ("imagenet",)
# Those whose module is in the folder `images`.
_OF_IMAGES = ("fig3", "fig6-images", "mnist-augmentations", "domain", "augmentation-strength", "editing")
# Those in the folder `beyond`: ours, of recordings.
_BEYOND = ("timescales", "broken-assumptions")


def study_names(*, own_data: bool = False) -> list[str]:
    """Names of the studies, in the order of the papers.

    >>> "fig10" in study_names()
    True

    Args:
        own_data: also name those that need images of the user's own.

    Returns:
        Names that `find_study` knows.

    """
    return [*_NAMES, *(_ON_OWN_DATA if own_data else ())]


def check_study(name: str) -> str:
    """Require the name of a study, before anything of it is loaded."""
    return check_choice(name, "study", study_names(own_data=True), listed_by="`aninfonce list`")


def find_study(name: str) -> Study:
    """Look up a study.

    >>> find_study("fig10").name
    'fig10'

    Args:
        name: one of `study_names(own_data=True)`.

    Returns:
        The study; a `ValueError` with close names if there is none of that name.

    """
    check_study(name)
    folder = "images." if name in _OF_IMAGES else "beyond." if name in _BEYOND else ""
    study: Study = importlib.import_module(f"aninfonce.studies.{folder}{name.replace('-', '_')}").STUDY
    return study
