"""The documentation builds as a site, with warnings as errors."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_site_builds_without_a_warning(tmp_path):
    result = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    reference = (tmp_path / "reference" / "losses.html").read_text(encoding="utf-8")
    assert "AnInfoNCE" in reference
    # Names of a package that imports them when they are used.
    assert 'id="aninfonce.training.TrainingConfig"' in (tmp_path / "reference" / "training.html").read_text(
        encoding="utf-8"
    )
    # Doctests are shown as code, not as nested quotations.
    assert "<blockquote>\n<blockquote>" not in reference
    for page in (
        "index",
        "tutorial",
        "theory",
        "audit",
        "howto/time-series",
        "results",
        "reference/estimator",
    ):
        assert (tmp_path / f"{page}.html").exists(), page
