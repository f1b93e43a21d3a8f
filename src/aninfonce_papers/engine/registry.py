"""All studies by name."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from aninfonce.extending import check_choice

if TYPE_CHECKING:
    from aninfonce_papers.engine.base import Study

# Where each study is, in the order of the papers. Its module, named after it with _ for -, holds one `STUDY`,
# and is loaded when asked for, so that listing the names costs nothing.
_HOMES = {
    "fig2": "rusak2025",
    "fig3": "rusak2025.images",
    "fig4": "rusak2025",
    "fig5": "rusak2025",
    "fig6-images": "rusak2025.images",
    "fig6-uniformity": "rusak2025",
    "fig8": "rusak2025",
    "fig9": "rusak2025",
    "fig10": "rusak2025",
    "fig11": "rusak2025",
    "fig12": "rusak2025",
    "theorem": "rusak2025",
    "exactness": "beyond",
    "conditional-form": "beyond",
    "nonuniform": "beyond",
    "mnist-augmentations": "rusak2025.images",
    "domain": "rusak2025.images",
    "augmentation-strength": "beyond",
    "editing": "beyond",
    "table1": "zimmermann2021",
    "table2": "zimmermann2021",
    "table3": "zimmermann2021",
    "table4": "zimmermann2021",
    "causal3dident": "rusak2025",
    "marginals": "zimmermann2021",
    "cifar10": "rusak2025",
    "fashion-mnist": "beyond",
    "timescales": "beyond",
    "broken-assumptions": "beyond",
    "oscillators": "beyond",
    "heteroscedastic": "beyond",
    "light-tunnel": "beyond",
}
# Need data that cannot be fetched here: left out where all studies are run.
_ON_OWN_DATA = {"imagenet": "rusak2025", "real-dynamics": "beyond"}


def study_names(*, own_data: bool = False) -> list[str]:
    """Names of the studies, in the order of the papers.

    >>> "fig10" in study_names()
    True

    Args:
        own_data: also name those that need data of the user's own, or of a package that is seldom there.

    Returns:
        Names that `find_study` knows.

    """
    return [*_HOMES, *(_ON_OWN_DATA if own_data else ())]


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
    home = {**_HOMES, **_ON_OWN_DATA}[name]
    study: Study = importlib.import_module(f"aninfonce_papers.{home}.{name.replace('-', '_')}").STUDY
    return study
