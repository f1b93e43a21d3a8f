"""The picture is drawn from the committed numbers."""

import numpy as np
from benchmarks.recordings.figure import draw


def test_four_panels_are_drawn_the_same_each_time(tmp_path):
    rng = np.random.default_rng(0)
    path = rng.uniform(size=(50, 2)).astype(np.float32)
    kept = {"frame": np.float32(0.05), "truth": path, "pca": path, "ours": path}
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
