"""Real images for the tests that need them: fetched once a session, whatever the number of workers."""

import pytest

from aninfonce.datasets import DatasetError, fetch, load_images


def fetched(name, tmp_path_factory):
    base = tmp_path_factory.getbasetemp()
    # Workers of pytest-xdist have folders of their own inside the session's; `fetch` has a lock.
    shared = base.parent if base.name.startswith("popen-") else base
    try:
        fetch(name, shared / "images", clients=True)
    except DatasetError as problem:
        if "damaged" in str(problem):
            raise
        pytest.skip(f"{name} cannot be reached: {problem}")
    return shared / "images"


@pytest.fixture(scope="session")
def mnist_folder(tmp_path_factory):
    return fetched("mnist", tmp_path_factory)


@pytest.fixture(scope="session")
def cifar10_folder(tmp_path_factory):
    return fetched("cifar10", tmp_path_factory)


@pytest.fixture(scope="session")
def fashion_folder(tmp_path_factory):
    return fetched("fashion-mnist", tmp_path_factory)


@pytest.fixture(scope="session")
def digits(mnist_folder):
    """2000 real digits in memory."""
    return load_images("mnist", folder=mnist_folder).take(2000)
