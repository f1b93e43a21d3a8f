"""Runs the Python blocks of the README and of docs/ as tests; gives every test the same start each time."""

import random
import zlib

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, settings
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

pytest_collect_file = Sybil(parsers=[PythonCodeBlockParser()], patterns=["*.md"]).pytest()

# The same examples each time, however long they take on this machine.
settings.register_profile(
    "same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("same")


def pytest_collection_modifyitems(items):
    """Put what takes long first, pages and files that start processes, so that all workers end together."""
    long = {item.path for item in items if item.get_closest_marker("process") or item.path.suffix == ".md"}
    items.sort(key=lambda item: item.path not in long)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Seed the global random state: what else ran in this worker depends on how quick the others were."""
    seed = zlib.crc32(item.nodeid.encode())
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    torch.manual_seed(seed)
