"""What the README and the docs say is what the committed results say."""

from pathlib import Path

from aninfonce_papers.report import write_markdown

ROOT = Path(__file__).parents[3]


def test_generated_texts_are_up_to_date(monkeypatch):
    monkeypatch.chdir(ROOT)
    stale = write_markdown(
        "results", "docs/results.md", "README.md", benchmarks="benchmarks/results", check=True
    )
    assert stale == [], "run `aninfonce report results --markdown`"
