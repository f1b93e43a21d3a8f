from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
import torch

import aninfonce
from aninfonce._seeds import derive_seed, global_stream, stream

# Files that may seed a generator without `_seeds`, and why.
ALLOWED = {
    "_seeds.py": "this is it",
    "encoders/_init.py": "the seed is drawn from the generator that is given",
    "scenes/writing.py": "a folder of scenes begun by an earlier version must go on with the same latents",
}
SEEDING = re.compile(r"manual_seed\(|default_rng\((?!derive_seed\()|RandomState\(|np\.random\.seed\(")


def test_streams_of_many_seeds_and_purposes_never_coincide() -> None:
    purposes = [("weights",), ("pairs",), ("pairs", "order"), ("pairs", 0), ("pairs", "0"), ("pairs0",)]
    seeds = [derive_seed(seed, *purpose) for seed, purpose in itertools.product(range(200), purposes)]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_purposes_are_not_glued_together() -> None:
    assert derive_seed(1, "a", "b") != derive_seed(1, "ab")
    assert derive_seed(1, "a", "bc") != derive_seed(1, "ab", "c")


def test_a_stream_leaves_the_global_generator_alone() -> None:
    before = torch.get_rng_state()
    torch.rand(3, generator=stream(0, "pairs"))
    assert torch.equal(before, torch.get_rng_state())


def test_the_numbers_stay_the_same_from_version_to_version() -> None:
    # Results are told with their seed: these values are part of that.
    assert derive_seed(0, "weights") == 5808594629991019556


def test_generators_are_seeded_in_one_place() -> None:
    package = Path(aninfonce.__file__).parent
    found = {}
    for path in sorted(package.rglob("*.py")):
        lines = path.read_text(encoding="utf-8").splitlines()
        # Examples in docstrings are a user's own.
        hits = [
            line.strip() for line in lines if SEEDING.search(line) and not re.match(r"\s*(>>>|\.\.\.)", line)
        ]
        if hits and str(path.relative_to(package)) not in ALLOWED:
            found[str(path.relative_to(package))] = hits
    assert found == {}


@pytest.mark.parametrize("fails", [False, True])
def test_a_global_stream_is_the_same_each_time_and_gives_the_state_back(fails: bool) -> None:
    torch.manual_seed(4)
    before = torch.get_rng_state()
    drawn = []
    for _ in range(2):
        try:
            with global_stream(0, "steps"):
                drawn.append(torch.rand(3))
                if fails:
                    raise KeyError
        except KeyError:
            pass
        assert torch.equal(before, torch.get_rng_state())
    assert torch.equal(drawn[0], drawn[1])
    assert not torch.equal(drawn[0], torch.rand(3))
