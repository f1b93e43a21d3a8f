"""All studies by name."""

from __future__ import annotations

import difflib
import importlib

from aninfonce.studies.base import Study

# Each module holds one `STUDY`; loaded when asked for, so that listing names costs nothing.
_MODULES = {
    "fig2": "fig2",
    "fig5": "fig5",
    "fig8": "fig8",
    "fig10": "fig10",
    "exactness": "exactness",
    "table1": "table1",
    "table2": "table2",
}


def study_names() -> list[str]:
    """Names that `find_study` knows, in the order of the papers.

    >>> "fig10" in study_names()
    True
    """
    return list(_MODULES)


def find_study(name: str) -> Study:
    """Look up a study.

    >>> find_study("fig10").name
    'fig10'

    Args:
        name: one of `study_names()`.

    Returns:
        The study; a `ValueError` with close names if there is none of that name.

    """
    if name not in _MODULES:
        close = difflib.get_close_matches(name, study_names(), n=3, cutoff=0.5)
        hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
        raise ValueError(f"`study` must be one of {', '.join(study_names())}, got {name!r}{hint}")
    study: Study = importlib.import_module(f"aninfonce.studies.{_MODULES[name]}").STUDY
    return study
