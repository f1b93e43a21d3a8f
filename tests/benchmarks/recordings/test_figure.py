"""The picture is drawn from the committed numbers."""

import numpy as np
from benchmarks.recordings.figure import draw, onto


def test_four_panels_are_drawn_the_same_each_time(tmp_path):
    rng = np.random.default_rng(0)
    path = rng.uniform(size=(50, 2)).astype(np.float32)
    kept = {"frame": np.float32(0.05), "ours_seconds": np.float32(23.0)}
    for name in ("truth", "pca", "ours"):
        kept |= {name: path, f"{name}_all": path.astype(np.float16)}
    kept |= {
        "pca_r2": np.zeros(2),
        "ours_r2": np.ones(2),
        "spikes": rng.poisson(0.2, (40, 12)).astype(np.uint8),
    }
    np.savez(tmp_path / "numbers.npz", **kept)
    for name in ("a.png", "b.png"):
        draw(tmp_path / "numbers.npz", tmp_path / name)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    assert (tmp_path / "a.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_an_embedding_is_turned_onto_the_truth_and_not_bent():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(4000, 2)) * [1.0, 2.0] + 3
    turn = np.array([[0.6, 0.8], [0.8, -0.6]])
    found = (truth - 3) / [1.0, 2.0] @ turn * 7 + 1
    np.testing.assert_allclose(onto(found, truth, np.arange(4000) < 3000), truth, atol=0.4)
    # Nothing shrinks, where there is nothing to be found either.
    unrelated = onto(rng.normal(size=(4000, 2)), truth, np.ones(4000, bool))
    np.testing.assert_allclose(unrelated.std(axis=0), truth.std(axis=0), rtol=0.1)
