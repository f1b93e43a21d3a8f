"""What `aninfonce list` shows of each study, kept in a file: reading it loads no study, and so no torch.

`python -m aninfonce_papers.engine.index` writes the file anew; a test tells when it is out of date.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypedDict

from aninfonce_papers.engine.registry import find_study, study_names

_FILE = Path(__file__).with_name("index.json")


class StudyFacts(TypedDict):
    """What a study is called and how large it is.

    Attributes:
        title: in a few words.
        cells: their number at each preset.

    """

    title: str
    cells: dict[str, int]


def read_index() -> dict[str, StudyFacts]:
    """Read the facts of all studies, in the order of the papers.

    >>> read_index()["fig5"]["cells"]["smoke"]
    2
    """
    facts: dict[str, StudyFacts] = json.loads(_FILE.read_text(encoding="utf-8"))
    return facts


def build_index() -> dict[str, StudyFacts]:
    """Load every study and take its facts."""
    return {
        study.name: {
            "title": study.title,
            "cells": {preset: len(study.experiments(preset)) for preset in study.presets},
        }
        for study in map(find_study, study_names(own_data=True))
    }


if __name__ == "__main__":
    # One line per study, for readable diffs.
    facts = {name: json.dumps(found, ensure_ascii=False) for name, found in build_index().items()}
    text = ",\n".join(f' "{name}": {found}' for name, found in facts.items())
    _FILE.write_text(f"{{\n{text}\n}}\n", encoding="utf-8")
