"""The benchmark tables in the README and the docs are those of the committed results."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_tables_are_up_to_date():
    command = [sys.executable, "-m", "benchmarks.tables", "--check"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
