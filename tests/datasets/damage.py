"""Damaged copies of a file, and what a reader must make of them."""

import tracemalloc
from contextlib import contextmanager

import numpy as np

from aninfonce.datasets import DatasetError


def damaged(content, flips=150, cuts=40, seed=0):
    """Cut a file at many places, its first bytes among them, and flip single bits all over it."""
    rng = np.random.default_rng(seed)
    for length in {*range(min(12, len(content))), *rng.integers(len(content), size=cuts).tolist()}:
        yield content[:length]
    # Every other flip in the first and last bytes, where headers and directories are.
    near = min(400, len(content))
    for number in range(flips):
        place = int(rng.integers(near if number % 2 else len(content)))
        place = len(content) - 1 - place if number % 4 == 1 else place
        copy = bytearray(content)
        copy[place] ^= 1 << int(rng.integers(8))
        yield bytes(copy)


def read_or_refuse(read, path):
    """Give what was read, or None after a refusal of one line that names the file; all else fails."""
    try:
        return read(path)
    except DatasetError as problem:
        message = str(problem)
        assert str(path) in message
        assert "\n" not in message
        assert len(message) < 500 + len(str(path))
        return None


@contextmanager
def little_memory(megabytes):
    """Require that the block never holds more than so much."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < megabytes * 1e6
    finally:
        tracemalloc.stop()
