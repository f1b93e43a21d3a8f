"""A folder of results made by hand, so that every verdict is there."""

import pytest

from aninfonce_papers.engine import ResultStore, Row, find_study

# Offsets from the published R² of table1's first rows, one for each of three seeds.
OFFSETS = {0: (0.3, 0.31, 0.29), 1: (0.01, -0.01, 0.0), 2: (-1.0, -1.1, -0.9)}


def row(study, experiment, seed, metrics, error=None):
    return Row(
        study=study,
        cell=experiment.name,
        seed=seed,
        preset="laptop",
        configuration=experiment.configuration,
        metrics=metrics,
        published=experiment.known_values("laptop"),
        seconds=30.0,
        versions={"aninfonce": "0.1.0", "torch": "2"},
        error=error,
    )


@pytest.fixture
def results(tmp_path):
    store = ResultStore(tmp_path / "results")
    table1 = find_study("table1").experiments("laptop")
    for place, offsets in OFFSETS.items():
        cell = table1[place]
        for seed, offset in enumerate(offsets):
            r2 = cell.published["R² [%]"].value + offset
            store.append(row("table1", cell, seed, {"R² [%]": r2, "MCC [%]": 50.0, "curves": {"r2": [0.1]}}))
    store.append(row("table1", table1[3], 0, {}, "RuntimeError: <b>broke</b> & fell"))
    fig10 = find_study("fig10").experiments("laptop")[1]
    losses = {name: value.value for name, value in fig10.published.items()}
    store.append(row("fig10", fig10, 0, losses))
    for cell in find_study("fig5").experiments("laptop"):
        store.append(row("fig5", cell, 0, {"overlap": 0.25}))
    return store
