"""Notebooks from scripts: `notebooks/*.py` are written by hand, `docs/notebooks/*.ipynb` are made of them.

A script is easy to read in a diff, to lint and to search; a notebook is what people open. Outputs are left
out: numbers and pictures in a repository grow stale without anyone noticing, while the tests run every cell
anew. To see them, open a notebook, or run it:

    python -m tools.notebooks                    # make all notebooks again
    python -m tools.notebooks --check            # fail if one is not what its script makes
    python -m tools.notebooks --run OUT first_factors    # run it, outputs and all, into a folder
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import jupytext
import nbformat

ROOT = Path(__file__).parents[1]
SCRIPTS, NOTEBOOKS = ROOT / "notebooks", ROOT / "docs" / "notebooks"
# In the order in which to read them.
NAMES = ("first_factors", "my_recording", "my_images", "my_own_loop", "reproduce")
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


def make(name: str) -> nbformat.NotebookNode:
    """Make the notebook of a script: the same bytes each time, with no outputs."""
    read = jupytext.read(SCRIPTS / f"{name}.py", fmt="py:percent")
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": KERNEL, "language_info": {"name": "python"}})
    for place, cell in enumerate(read.cells):
        kind = nbformat.v4.new_markdown_cell if cell.cell_type == "markdown" else nbformat.v4.new_code_cell
        notebook.cells.append(kind(cell.source, id=f"cell-{place}"))
    nbformat.validate(notebook)
    return notebook


def text(name: str) -> str:
    """Write a script's notebook as JSON."""
    return str(nbformat.writes(make(name))) + "\n"


def run(name: str, folder: Path) -> Path:
    """Run a notebook in a kernel of its own, and write it with its outputs into a folder."""
    from nbclient import NotebookClient

    notebook = make(name)
    folder.mkdir(parents=True, exist_ok=True)
    NotebookClient(notebook, timeout=None, kernel_name=KERNEL["name"]).execute()
    path = folder / f"{name}.ipynb"
    nbformat.write(notebook, path)
    return path


def main() -> None:
    """Make, check or run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", default=NAMES, help="of the notebooks; all if omitted")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if one is out of date")
    parser.add_argument("--run", type=Path, metavar="OUT", help="run them, into this folder")
    options = parser.parse_args()
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"no such notebook: {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    old = []
    for name in options.names:
        path = NOTEBOOKS / f"{name}.ipynb"
        if options.run:
            print(run(name, options.run))
        elif options.check:
            old += [name] if not path.exists() or path.read_text(encoding="utf-8") != text(name) else []
        else:
            NOTEBOOKS.mkdir(exist_ok=True)
            path.write_text(text(name), encoding="utf-8")
    if old:
        sys.exit(f"out of date, make them with `python -m tools.notebooks`: {', '.join(old)}")


if __name__ == "__main__":
    main()
