"""Install the wheel into empty environments, on the lowest and the newest dependencies, and try it there.

Each row is a Python, extras, and a way to resolve what `pyproject.toml` declares: `lowest` takes the lowest
version of each direct dependency, `newest` the newest there is. Nothing of the repository is on the path:
`install_smoke.py` runs in a folder of its own. Needs uv, and downloads much: torch comes with its CUDA
libraries unless a wheel without them is in a folder given by `--find-links`.

    python -m tools.installs                        # all rows
    python -m tools.installs --only "*lowest*" --find-links wheels --torch 2.13.0
    python -m tools.installs --docs                 # write the table into docs/howto/install.md
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from aninfonce_papers.report.markdown import between_marks, refresh, table

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "tools" / "installs.json"
PAGE = ROOT / "docs" / "howto" / "install.md"
MARKS = ("<!-- installs: start -->", "<!-- installs: end -->")
EXTRAS = ("images", "papers", "parquet", "onnx", "tensorboard", "wandb", "ray")
# Of these the table tells the version; the rest is in the results.
SHOWN = ("torch", "numpy", "scipy", "scikit-learn", "lightning-fabric", "pydantic", "typer", "matplotlib")


@dataclass(frozen=True)
class Row:
    """One environment."""

    python: str
    resolution: str
    extras: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """How `--only` and the results call it."""
        return f"{self.python}-{self.resolution}-{'extras' if self.extras else 'bare'}"


ROWS = tuple(
    Row(python, resolution, extras)
    for python, resolutions in {
        "3.11": ("lowest", "newest"),
        "3.12": ("newest",),
        "3.13": ("newest",),
    }.items()
    for resolution in resolutions
    for extras in ((), EXTRAS)
)


def run(*words: str | Path, **options: object) -> str:
    """Run a command; what it wrote is shown if it fails."""
    done = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, check=False, **options
    )  # type: ignore[call-overload]
    if done.returncode:
        raise RuntimeError(f"{words[0]} … {words[-1]}\n{done.stdout}{done.stderr}"[-4000:])
    return str(done.stdout)


def has_python(version: str) -> bool:
    """Tell whether this machine has such a Python; none is downloaded."""
    found = subprocess.run(
        ["uv", "python", "find", "--no-python-downloads", version], capture_output=True, check=False
    )
    return found.returncode == 0


def build_wheel(folder: Path) -> Path:
    """Build the wheel that all rows install."""
    run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT)
    (wheel,) = folder.glob("*.whl")
    return wheel


def try_row(row: Row, wheel: Path, torch: str | None, find_links: str | None) -> dict[str, object]:
    """Make the environment, run the smoke test in it, and throw it away."""
    outside = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    outside["UV_PYTHON_DOWNLOADS"] = "never"
    started = time.time()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python = folder / "env" / "bin" / "python"
        try:
            run("uv", "venv", "--python", row.python, folder / "env", env=outside)
            wanted = f"{wheel}[{','.join(row.extras)}]" if row.extras else str(wheel)
            options = ["--resolution", "lowest-direct" if row.resolution == "lowest" else "highest"]
            # A package without a wheel for this Python is no version that a user would want to build.
            options += ["--only-binary", ":all:"]
            if find_links:
                options += ["--find-links", find_links]
            pins = [f"torch=={torch}"] if torch else []
            # What is lowest is looked for in what is asked for here, not in what a wheel asks for.
            direct = requirements(row.extras) if row.resolution == "lowest" else []
            run("uv", "pip", "install", "--python", python, *options, wanted, *direct, *pins, env=outside)
            smoke = Path(__file__).with_name("install_smoke.py").read_text()
            (folder / "smoke.py").write_text(smoke)
            run(python, "-I", folder / "smoke.py", *row.extras, cwd=folder, env=outside)
            problem = None
        except RuntimeError as error:
            problem = str(error)
        listed = run("uv", "pip", "list", "--python", python, "--format", "json", env=outside)
        versions = {entry["name"].lower(): entry["version"] for entry in json.loads(listed)}
        full = run(python, "-c", "import platform; print(platform.python_version())").strip()
    return {
        "row": row.name,
        "python": full,
        "extras": list(row.extras),
        "resolution": row.resolution,
        "torch pinned": bool(torch),
        "problem": problem,
        "seconds": round(time.time() - started),
        "versions": {name: versions[name] for name in declared(row.extras) if name in versions},
    }


def requirements(extras: Iterable[str]) -> list[str]:
    """List what `pyproject.toml` asks for, with what extras ask for in place of their names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    wanted = list(project["dependencies"])
    for extra in extras:
        for text in optional[extra]:
            own = re.fullmatch(r"aninfonce\[(.*)\]", text)
            wanted += [part for name in own[1].split(",") for part in optional[name]] if own else [text]
    return sorted(set(wanted))


def declared(extras: Iterable[str]) -> list[str]:
    """Names of all direct dependencies, those of the extras among them."""
    return sorted({re.split(r"[\[<>=!~ ;]", text)[0].lower() for text in requirements(extras)})


def shown(results: list[dict[str, object]]) -> str:
    """Write the results as Markdown."""
    lines = []
    for result in results:
        versions: dict[str, str] = result["versions"]  # type: ignore[assignment]
        extras = "all" if result["extras"] else "none"
        cells = [result["python"], extras, result["resolution"], *(versions.get(name, "–") for name in SHOWN)]
        lines.append([str(cell) for cell in cells])
    return table(("Python", "extras", "versions", *SHOWN), lines)


def save(result: dict[str, object]) -> None:
    """Keep one row, in place of what was found before, in the order of the rows."""
    known = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else []
    found = {old["row"]: old for old in known} | {result["row"]: result}
    ordered = [found[row.name] for row in ROWS if row.name in found]
    RESULTS.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def write_docs() -> None:
    """Put the table between the marks of its page."""
    found = json.loads(RESULTS.read_text(encoding="utf-8"))
    refresh({PAGE: between_marks(PAGE, shown(found), MARKS)})


def main() -> None:
    """Try all rows, or some."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="*", help="rows to try, * and ? allowed")
    parser.add_argument("--torch", help="pin torch to this version")
    parser.add_argument("--find-links", help="a folder with more wheels")
    parser.add_argument("--save", action="store_true", help="keep what was found in tools/installs.json")
    parser.add_argument("--docs", action="store_true", help="only write the table of the saved results")
    options = parser.parse_args()
    if options.docs:
        write_docs()
        return
    failed = []
    with tempfile.TemporaryDirectory() as name:
        wheel = build_wheel(Path(name))
        for row in (row for row in ROWS if fnmatch(row.name, options.only)):
            if not has_python(row.python):
                print(row.name, "was not tried: no such Python here", flush=True)
                continue
            result = try_row(row, wheel, options.torch, options.find_links)
            print(
                row.name,
                result["seconds"],
                "s:",
                result["problem"] or "works",
                result["versions"],
                flush=True,
            )
            if result["problem"]:
                failed.append(row.name)
            elif options.save:
                save(result)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
