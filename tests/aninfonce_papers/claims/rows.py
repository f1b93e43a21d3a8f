"""Made-up rows of one study, "s", and the evidence that they are."""

from aninfonce_papers.claims import Evidence, Value
from aninfonce_papers.engine import Published, Row

PAPER = {("unrun", "R²"): Published(0.5)}


def row(cell, number, seed=0, known=None, **others):
    fields = {
        "study": "s",
        "cell": cell,
        "seed": seed,
        "preset": "laptop",
        "configuration": {},
        "metrics": {} if number is None else {"R²": number, "curve": [0.1], "note": "text"},
        "published": {} if known is None else {"R²": known},
        "seconds": 1.0,
        "versions": {},
        "error": None,
    }
    return Row(**{**fields, **others})


def seeds(cell, *numbers, published=None, **others):
    return [row(cell, number, seed, published, **others) for seed, number in enumerate(numbers)]


def evidence(*rows):
    return Evidence([one for group in rows for one in group], printed=lambda study: PAPER)


def of(*cells):
    return [Value("s", cell, "R²") for cell in cells]
