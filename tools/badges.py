"""Badges of the README, drawn from the files that make them true, without the network.

python -m tools.badges    # writes docs/figures/badges.svg
"""

from __future__ import annotations

import json
import tomllib
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[1]
PATH = ROOT / "docs" / "figures" / "badges.svg"
_HEIGHT, _GAP, _PAD, _LETTER = 20, 6, 7, 6.6


def facts() -> dict[str, str]:
    """Read what the badges say from the files that make it so: label and text of each."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    tried = json.loads((ROOT / "tools" / "installs.json").read_text(encoding="utf-8"))
    pythons = sorted({row["python"].rpartition(".")[0] for row in tried}, key=lambda v: int(v.split(".")[1]))
    found = {"Python": f"{pythons[0]} – {pythons[-1]}" if len(pythons) > 1 else pythons[0]}
    if project["tool"]["mypy"]["strict"]:
        found["types"] = "mypy strict"
    if "error" in project["tool"]["pytest"]["ini_options"]["filterwarnings"]:
        found["tests"] = "make test, warnings are errors"
    found["licence"] = project["project"]["license"]
    return found


def svg(badges: dict[str, str]) -> str:
    """Draw the badges in one row, as an SVG image with the same in words as its title."""
    x, parts = 0.0, []
    for label, text in badges.items():
        left, right = (len(word) * _LETTER + 2 * _PAD for word in (label, text))
        for start, width, colour, word in ((x, left, "#555", label), (x + left, right, "#0a5c8f", text)):
            middle, length = start + width / 2, width - 2 * _PAD
            parts.append(
                f'<rect x="{start:.0f}" width="{width:.0f}" height="{_HEIGHT}" fill="{colour}"/>'
                f'<text x="{middle:.0f}" y="14" textLength="{length:.0f}">{escape(word)}</text>'
            )
        x += left + right + _GAP
    said = escape("; ".join(f"{label}: {text}" for label, text in badges.items()))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{x - _GAP:.0f}" height="{_HEIGHT}" role="img">'
        f"<title>{said}</title>"
        '<g fill="#fff" font-family="Verdana, DejaVu Sans, sans-serif" font-size="11" text-anchor="middle">'
        + "".join(parts)
        + "</g></svg>\n"
    )


if __name__ == "__main__":
    PATH.write_text(svg(facts()), encoding="utf-8")
