"""All studies by name."""

from __future__ import annotations

import difflib
import importlib

from aninfonce.studies.base import Study

# Each module of that name, with _ for -, holds one `STUDY`; loaded when asked for, so that listing the names
# costs nothing.
_NAMES = (
    "fig2",
    "fig4",
    "fig5",
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
    "table1",
    "table2",
    "table4",
    "causal3dident",
    "marginals",
)


def study_names() -> list[str]:
    """Names that `find_study` knows, in the order of the papers.

    >>> "fig10" in study_names()
    True
    """
    return list(_NAMES)


def find_study(name: str) -> Study:
    """Look up a study.

    >>> find_study("fig10").name
    'fig10'

    Args:
        name: one of `study_names()`.

    Returns:
        The study; a `ValueError` with close names if there is none of that name.

    """
    if name not in _NAMES:
        close = difflib.get_close_matches(name, study_names(), n=3, cutoff=0.5)
        hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
        raise ValueError(f"`study` must be one of {', '.join(study_names())}, got {name!r}{hint}")
    study: Study = importlib.import_module(f"aninfonce.studies.{name.replace('-', '_')}").STUDY
    return study
