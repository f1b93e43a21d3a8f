"""Files of settings from strangers: read in bounded time, or refused in one line."""

from pathlib import Path

import pytest

from aninfonce.training import load_config
from aninfonce.training.yaml_files import read_yaml


def _written(folder, content):
    path = folder / "config.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def _bomb(levels=20):
    """Ten aliases of ten aliases of ten aliases: 10²⁰ values in a page."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, levels)]
    return "\n".join(lines)


def _merges(levels=20):
    lines = ["a0: &a0 {k: v}"]
    lines += [f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 10)}]}}" for i in range(1, levels)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (_bomb(), "must hold at most 10000 values; its aliases stand for more"),
        (_merges(), "must hold at most 10000 values; its aliases stand for more"),
        ("a: &a [*a]", "must hold at most 10000 values"),
        ("[" * 20_000, "is nested too deeply"),
        ("x" * 100_001, "must be a file of settings, of at most 100000 bytes"),
        ("seed: 2024-99-99", "cannot be read: month must be in"),
        ("seed: " + "9" * 5000, "cannot be read: .*digits"),
        (b"\xff\xfe\xfa", "cannot be read: .*utf-8"),
        ("a: [", "is not valid YAML"),
        ("!!python/object/apply:os.system [ls]", "is not valid YAML"),
    ],
)
def test_what_cannot_be_settings_is_refused(tmp_path, content, message):
    with pytest.raises(ValueError, match=rf"config.yaml {message}"):
        read_yaml(_written(tmp_path, content))


def test_a_few_aliases_are_fine(tmp_path):
    text = "steps: &n 20\nrecipe: &r {steps: *n}\nagain: [*r, *r]"
    assert read_yaml(_written(tmp_path, text))["again"] == [{"steps": 20}, {"steps": 20}]
    assert read_yaml(_written(tmp_path, "")) is None


def test_a_small_bomb_in_a_setting_gives_a_short_message(tmp_path):
    # Few enough values to be read, but too many to be printed.
    with pytest.raises(ValueError, match="`seed`: Input should be a valid integer, got") as caught:
        load_config(_written(tmp_path, f"{_bomb(3)}\nseed: *a2"))
    assert len(str(caught.value)) < 1000


def test_a_missing_file_is_named():
    with pytest.raises(ValueError, match=r"cannot read nowhere.yaml: No such file"):
        read_yaml(Path("nowhere.yaml"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dim: 2\nseed: 0\ndim: 3\n", "'dim' is given twice, in lines 1 and 3"),
        ("recipe:\n  steps: 5\n  steps: 6\n", "'steps' is given twice, in lines 2 and 3"),
        ("recipe: {steps: 5, steps: 6}", "'steps' is given twice, in lines 1 and 1"),
    ],
)
def test_a_setting_that_is_given_twice_is_refused(text, message, tmp_path):
    """The last one was taken, without a word."""
    with pytest.raises(ValueError, match=message):
        read_yaml(_written(tmp_path, text))
    assert read_yaml(_written(tmp_path, "a: {steps: 5}\nb: {steps: 6}")) == {
        "a": {"steps": 5},
        "b": {"steps": 6},
    }
