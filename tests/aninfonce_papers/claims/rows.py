"""Made-up rows of one study, "s", and the evidence that they are."""

from dataclasses import asdict

from aninfonce_papers.claims import Evidence, Value
from aninfonce_papers.engine import Published

PAPER = {("unrun", "R²"): Published(0.5)}


def row(cell, number, seed=0, published=None, **others):
    return {
        "study": "s",
        "cell": cell,
        "seed": seed,
        "preset": "laptop",
        "configuration": {},
        "metrics": {} if number is None else {"R²": number, "curve": [0.1], "note": "text"},
        "published": {} if published is None else {"R²": asdict(published)},
        "error": None,
        **others,
    }


def seeds(cell, *numbers, published=None, **others):
    return [row(cell, number, seed, published, **others) for seed, number in enumerate(numbers)]


def evidence(*rows):
    return Evidence([one for group in rows for one in group], printed=lambda study: PAPER)


def of(*cells):
    return [Value("s", cell, "R²") for cell in cells]
