"""The benchmark tables and figures in the README and the docs are those of the committed results."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("module", ["tables", "figures"])
def test_they_are_up_to_date(module):
    command = [sys.executable, "-m", f"benchmarks.{module}", "--check"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
