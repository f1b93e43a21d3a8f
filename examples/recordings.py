"""Smartwatch movements: what ContrastiveICA, PCA, FastICA and CEBRA keep of them, in one run.

Seven shoulder exercises, ten people, six channels (acceleration and rotation) at 50 Hz; the recordings come
with `pip install seglearn pandas`. Every method learns an embedding of one-second windows, without labels,
from seven people. A linear probe and nearest neighbours then learn the exercise there, and are asked about
single windows of the three people that nothing was fitted on.

    python examples/recordings.py            # run, write recordings.json, print the table
    python examples/recordings.py --table    # print the table of the file that is there
"""

import argparse
import json
import time
import warnings
from pathlib import Path
from statistics import fmean

import numpy as np
from sklearn.decomposition import PCA, FastICA
from sklearn.preprocessing import StandardScaler

from aninfonce.estimator import ContrastiveICA
from aninfonce.metrics import knn_accuracy, linear_probe_accuracy

RESULTS = Path(__file__).with_name("recordings.json")
DIM, STEPS, BATCH, SEEDS = 8, 600, 512, 3
# Windows of one second at 10 Hz. Positives are a second later, so that the two windows share no sample.
THIN, WINDOW = 5, 10
HELD_OUT = (8, 9, 10)


def windows():
    """Cut the recordings into windows: rows (N, 60), the exercise, the person and the recording of each."""
    from seglearn.datasets import load_watch

    data = load_watch()
    rows, exercise, person, recording = [], [], [], []
    for index, series in enumerate(data["X"]):
        usable = series[: len(series) // THIN * THIN]
        slow = usable.reshape(-1, THIN, series.shape[1]).mean(axis=1)
        cut = np.lib.stride_tricks.sliding_window_view(slow, WINDOW, axis=0).reshape(
            -1, WINDOW * series.shape[1]
        )
        rows.append(cut)
        exercise += [data["y_labels"][data["y"][index]]] * len(cut)
        person += [data["subject"][index]] * len(cut)
        recording += [index] * len(cut)
    return np.concatenate(rows), np.array(exercise), np.array(person), np.array(recording)


def contrastive(train, groups, seed):
    """Ours, on pairs of windows a second apart."""
    # On the sphere, with decorrelated inputs, as the numbers in recordings.json were measured.
    model = ContrastiveICA(
        DIM,
        space="sphere",
        lag=WINDOW,
        whiten=True,
        max_steps=STEPS,
        batch_size=BATCH,
        random_state=seed,
    )
    return model.fit(train, groups=groups).transform


def cebra_time(train, groups, seed):
    """CEBRA on the same pairs; it has no groups, so that a few pairs go from one recording to the next."""
    import cebra
    import torch

    torch.manual_seed(seed)
    model = cebra.CEBRA(
        model_architecture="offset1-model",
        conditional="time",
        time_offsets=WINDOW,
        output_dimension=DIM,
        max_iterations=STEPS,
        batch_size=BATCH,
        num_hidden_units=128,
        device="cpu",
        verbose=False,
    )
    return model.fit(train.astype(np.float32)).transform


METHODS = {
    "ContrastiveICA": contrastive,
    "CEBRA": cebra_time,
    "FastICA": lambda train, groups, seed: (
        FastICA(DIM, random_state=seed, max_iter=1000).fit(train).transform
    ),
    "PCA": lambda train, groups, seed: PCA(DIM).fit(train).transform,
    "no embedding": lambda train, groups, seed: lambda rows: rows,
}


def run():
    """Fit and score every method; one row for each seed of it."""
    X, exercise, person, recording = windows()
    test = np.isin(person, HELD_OUT)
    X = StandardScaler().fit(X[~test]).transform(X)
    # Every tenth window: neighbours overlap almost whole, and would only repeat each other for the probes.
    ask, learn = np.flatnonzero(test)[::WINDOW], np.flatnonzero(~test)[::WINDOW]
    results = []
    for name, method in METHODS.items():
        for seed in range(SEEDS if name not in ("PCA", "no embedding") else 1):
            start = time.process_time()
            embed = method(X[~test], recording[~test], seed)
            seconds = time.process_time() - start
            split = embed(X[learn]), exercise[learn], embed(X[ask]), exercise[ask]
            row = {
                "method": name,
                "seed": seed,
                "linear": linear_probe_accuracy(*split).mean,
                "neighbours": knn_accuracy(*split, k=15, metric="euclidean").mean,
                "seconds": round(seconds, 1),
            }
            print(row, flush=True)
            results.append(row)
    return {"windows": len(X), "held_out_windows": len(ask), "dim": DIM, "steps": STEPS, "rows": results}


def table(results):
    """Write the results in Markdown, means over seeds."""
    lines = ["| method | seeds | linear probe | 15 neighbours | CPU s |", "|---|---|---|---|---|"]
    for name in METHODS:
        rows = [row for row in results["rows"] if row["method"] == name]
        if rows:
            linear, near, seconds = (
                fmean(row[key] for row in rows) for key in ("linear", "neighbours", "seconds")
            )
            lines.append(f"| {name} | {len(rows)} | {linear:.3f} | {near:.3f} | {seconds:.0f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--table", action="store_true", help="only print the table of the committed results")
    if not parser.parse_args().table:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            RESULTS.write_text(json.dumps(run(), indent=1) + "\n")
    print(table(json.loads(RESULTS.read_text())))
