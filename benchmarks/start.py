"""How long the command takes to answer what needs no computation: help, lists and mistyped names.

    python -m benchmarks.start                        # this source tree
    python -m benchmarks.start /some/other/src src    # several trees side by side, such as before and after

Prints CPU seconds, user and system, of one process per command, the smallest of a few runs. A time on the
clock would also measure what else the machine does.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.rows import command

SOURCE = Path(__file__).parents[1] / "src"
# A study, a data set and a process are mistyped below; the others are spelled as they should be.
CONFIG = "data: {process: fig2/26}\n"
COMMANDS = (
    "--help",
    "--version",
    "demo --help",
    "train --help",
    "evaluate --help",
    "embed --help",
    "audit --help",
    "data --help",
    "data get --help",
    "data render --help",
    "run --help",
    "report --help",
    "list",
    "list fgi2",
    "run fgi2",
    "run fig2 fgi3",
    "data list",
    "data get mnits",
    "data render threedidnet",
    "audit --encoder mine:embed --data mnits --out page",
    "train config.yaml",
)
IMPORTS = ("import torch", "import aninfonce", "from aninfonce import AnInfoNCE", "import aninfonce.losses")


def cpu_seconds(arguments: list[str], source: Path, folder: Path, repeats: int) -> float:
    """Run Python and give the CPU seconds of the quickest run."""
    environment = {**os.environ, "PYTHONPATH": str(source.resolve()), "OMP_NUM_THREADS": "1"}
    found = []
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, check=False
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("sources", type=Path, nargs="*", default=[SOURCE], help="folders with the package")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    call = "from aninfonce.cli import main; main()"
    cases = {
        **{f"aninfonce {command}": ["-c", call, *command.split()] for command in COMMANDS},
        **{code: ["-c", code] for code in IMPORTS},
    }
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "config.yaml").write_text(CONFIG)
        for name, arguments in cases.items():
            seconds = [cpu_seconds(arguments, source, folder, options.repeats) for source in options.sources]
            print("  ".join(f"{value:5.2f}" for value in seconds), name, sep="  ", flush=True)


if __name__ == "__main__":
    main()
