"""The recording of a walk: small files in the layout of the sensors, and the real ones where they are."""

from importlib.metadata import distributions

import numpy as np
import pytest

from aninfonce_papers.worlds.walking import NAMES, open_walking, strides_per_second

SENSED = [f"{kind}_{axis}" for kind in ("Acc", "Gyr", "Mag") for axis in "XYZ"]
COLUMNS = ["Counter", *SENSED, "Latitude"]


def write_walk(folder, *, rows=60, rate="10.0Hz", names=NAMES, columns=COLUMNS, first=(100, 100)):
    """Write what each sensor would: comments, names, and rows that end in a tab."""
    folder.mkdir(exist_ok=True)
    for name, start in zip(names, first, strict=True):
        values = np.random.default_rng(len(name)).normal(size=(rows, len(columns)))
        values[:, 0] = start + np.arange(rows)
        lines = ["// Start Time: 0", f"// Sample rate: {rate}", "// Firmware Version: 2.5.1"]
        lines += ["\t".join(columns) + "\t", *("\t".join(map(str, row)) + "\t" for row in values)]
        (folder / name).write_text("\n".join(lines) + "\n")
    return folder


def test_both_sensors_are_read_from_where_the_walk_starts(tmp_path):
    walking = open_walking(write_walk(tmp_path / "walk"))
    assert walking.rate == 10.0
    # 60 rows, of which four seconds are spent standing.
    assert walking.motion.shape == (20, 12)
    np.testing.assert_allclose(np.linalg.norm(walking.field.reshape(20, 2, 3), axis=2), 1.0)
    numbers = np.loadtxt(tmp_path / "walk" / NAMES[1], skiprows=44)
    np.testing.assert_allclose(walking.motion[:, 6:], numbers[:, 1:7])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"columns": COLUMNS[:-3]}, "columns"),
        ({"first": (100, 101)}, "the same moments"),
        ({"rate": "fast"}, "one number"),
    ],
)
def test_other_files_are_refused(tmp_path, changes, words):
    with pytest.raises(ValueError, match=words):
        open_walking(write_walk(tmp_path / "walk", **changes))


def test_strides_are_counted_between_two_frequencies_of_the_recording():
    time = np.arange(1000) / 50
    swing = np.stack([np.sin(2 * np.pi * 0.83 * time), np.cos(2 * np.pi * 4 * time)], axis=1)
    assert strides_per_second(swing, 50.0) == pytest.approx(0.83, abs=0.01)


def test_the_real_recording():
    if not list(distributions(name="scikit-kinematics")):
        with pytest.raises(ModuleNotFoundError, match="pip install --no-deps scikit-kinematics"):
            open_walking()
        pytest.skip("scikit-kinematics, which has the recording, is not installed")
    walking = open_walking()
    assert walking.motion.shape == (3031, 12)
    assert walking.rate == 120.0
    assert strides_per_second(walking.field, walking.rate) == pytest.approx(0.782, abs=0.001)
