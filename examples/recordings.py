"""Smartwatch movements: what ContrastiveICA, PCA, FastICA and CEBRA keep of them, in one run.

Seven shoulder exercises, ten people, six channels (acceleration and rotation) at 50 Hz; the recordings come
with `pip install seglearn pandas`. Every method learns an embedding of one-second windows, without labels,
from seven people. A linear probe and nearest neighbours then learn the exercise there, and are asked about
single windows of the three people that nothing was fitted on.

Exercises are repeated every two to three seconds. A second after a window the arm is halfway through: what
was up is down, windows are the opposite of each other, and no distance can express that. So positives are one
repetition later, at the lag at which windows are most alike; no label is needed to see it.

    python examples/recordings.py            # run, write recordings.json, print the table
    python examples/recordings.py --table    # print the table of the file that is there
"""

import argparse
import json
import time
import warnings
from functools import partial
from pathlib import Path
from statistics import fmean

import numpy as np
from sklearn.decomposition import PCA, FastICA
from sklearn.preprocessing import StandardScaler

from aninfonce.estimator import ContrastiveICA
from aninfonce.metrics import knn_accuracy, linear_probe_accuracy

RESULTS = Path(__file__).with_name("recordings.json")
DIM, STEPS, BATCH, SEEDS = 16, 600, 512, 3
# Windows of one second at 10 Hz. Positives are at least a second later, so that the two share no sample.
THIN, WINDOW, LONGEST = 5, 10, 50
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


def correlations(train, groups, lags):
    """Average correlation of the principal components with themselves some windows later, for each lag."""
    columns = PCA(DIM, whiten=True).fit_transform(train)
    found = []
    for lag in lags:
        same = groups[lag:] == groups[:-lag]
        found.append((columns[lag:][same] * columns[:-lag][same]).mean())
    return np.array(found)


def repetition(train, groups):
    """Lag at which windows are most alike: 2.3 seconds."""
    lags = np.arange(WINDOW, LONGEST + 1)
    return int(lags[np.argmax(correlations(train, groups, lags))])


def contrastive(train, groups, seed, lag=None):
    """Ours, on pairs of windows one repetition apart."""
    lag = repetition(train, groups) if lag is None else lag
    model = ContrastiveICA(DIM, lag=lag, max_steps=STEPS, batch_size=BATCH, random_state=seed)
    return model.fit(train, groups=groups).transform


def cebra_time(train, groups, seed):
    """CEBRA on the same pairs; it has no groups, so that a few pairs go from one recording to the next."""
    import cebra
    import torch

    torch.manual_seed(seed)
    model = cebra.CEBRA(
        model_architecture="offset1-model",
        conditional="time",
        time_offsets=repetition(train, groups),
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
    "ContrastiveICA, a second apart": partial(contrastive, lag=WINDOW),
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
    lags = np.arange(5, LONGEST + 1, 5)
    alike = correlations(X[~test], recording[~test], lags).round(3)
    return {
        "windows": len(X),
        "held_out_windows": len(ask),
        "dim": DIM,
        "steps": STEPS,
        "lag": repetition(X[~test], recording[~test]),
        "correlations": dict(zip(lags.tolist(), alike.tolist(), strict=True)),
        "rows": results,
    }


def table(results):
    """Write the results in Markdown: means over seeds and, in brackets, the worst."""
    lines = ["| method | seeds | linear probe | 15 neighbours | CPU s |", "|---|---|---|---|---|"]
    for name in METHODS:
        rows = [row for row in results["rows"] if row["method"] == name]
        if rows:
            shown = []
            for key in ("linear", "neighbours"):
                values = [row[key] for row in rows]
                shown.append(f"{fmean(values):.3f} ({min(values):.3f})")
            seconds = fmean(row["seconds"] for row in rows)
            lines.append(f"| {name} | {len(rows)} | {' | '.join(shown)} | {seconds:.0f} |")
    alike = " ".join(f"{int(lag) / 10:g} s {value:.2f}," for lag, value in results["correlations"].items())
    lines += ["", f"Average correlation of windows with later ones: {alike.rstrip(',')}. The lag is"]
    lines[-1] += f" {results['lag'] / 10:g} s."
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--table", action="store_true", help="only print the table of the committed results")
    if not parser.parse_args().table:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            RESULTS.write_text(json.dumps(run(), indent=1) + "\n")
    print(table(json.loads(RESULTS.read_text())))
