"""Pickled arrays: every protocol is read, nothing is called, and no file costs more than its size."""

import io
import pickle
import struct

import numpy as np
import pytest

from aninfonce.datasets import DatasetError
from aninfonce.datasets import pickles as module
from aninfonce.datasets.pickles import read_pickle
from tests.datasets.damage import damaged, little_memory, read_or_refuse

CONTENT = {
    "data": np.arange(12, dtype=np.uint8).reshape(3, 4),
    "turned": np.asfortranarray(np.arange(200, 206, dtype=np.uint8).reshape(2, 3)),
    "large": np.arange(5, dtype=">f4"),
    "labels": [0, 3, 300, 70_000, -1, 2**40, True, False, None, 0.5],
    "names": ["a", "ü", b"\xff\n'", ""],
    "many": list(range(1500)),
    "nested": {"a": [{}, []]},
}


def read(path):
    return read_pickle(path, "file of mine", ("u1", "f4"))


def assert_same(found, expected):
    assert type(found) is type(expected)
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        for key in expected:
            assert_same(found[key], expected[key])
    elif isinstance(expected, np.ndarray):
        np.testing.assert_array_equal(found, expected)
    else:
        assert found == expected


@pytest.mark.parametrize("protocol", range(6))
def test_every_protocol(tmp_path, protocol):
    (tmp_path / "file").write_bytes(pickle.dumps(CONTENT, protocol=protocol))
    assert_same(read(tmp_path / "file"), CONTENT)


@pytest.mark.parametrize("protocol", [0, 2])
def test_texts_of_python_2_are_bytes(tmp_path, protocol):
    quoted = {0: b"S'da\\xff'\np0\n", 2: b"U\x03da\xffq\x00"}[protocol]
    (tmp_path / "file").write_bytes(b"(" + quoted + b"I7\nd.")
    assert read(tmp_path / "file") == {b"da\xff": 7}


@pytest.mark.parametrize("protocol", [0, 2, 4, 5])
def test_damaged_files_end_in_one_line(tmp_path, protocol):
    (tmp_path / "file").write_bytes(pickle.dumps(CONTENT, protocol=protocol))
    content = (tmp_path / "file").read_bytes()
    for copy in damaged(content, flips=250):
        (tmp_path / "copy").write_bytes(copy)
        found = read_or_refuse(read, tmp_path / "copy")
        assert found is None or len(copy) == len(content)


def nested(levels, empty, add, wrap=b""):
    """Make something that holds the one before it twice, `levels` times: its size doubles with each."""
    steps = [empty, b"q\x00"]
    for level in range(levels):
        last, new = bytes([level]), bytes([level + 1])
        steps.append(add(b"h" + last, b"h" + last) + b"q" + new)
    return b"\x80\x02" + b"".join(steps) + wrap + b"."


def as_list(first, second):
    return b"](" + first + second + b"e"


def as_tuple(first, second):
    return first + second + b"\x86"


@pytest.mark.parametrize(
    "bomb",
    [
        nested(40, b"]", as_list),
        nested(40, b"]", as_list, wrap=b"}U\x04datah\x28s"),
        nested(40, b"K\x01", as_tuple),
        # The hash of such a key alone would never end, ...
        nested(40, b"K\x01", as_tuple, wrap=b"}q\xffh\x28K\x01s"),
        # ... nor would its text in a message, as a dtype, a name, or what encodes bytes.
        nested(40, b"K\x01", as_tuple, wrap=b"cnumpy\ndtype\nh\x28\x85R"),
        nested(40, b"K\x01", as_tuple, wrap=b"h\x28h\x28\x93"),
        nested(40, b"K\x01", as_tuple, wrap=b"c_codecs\nencode\nU\x01ah\x28\x86R"),
        nested(40, b"K\x01", as_tuple, wrap=b"h\x28)R"),
        # Lists in themselves.
        b"]q\x00h\x00a.",
        b"}q\x00U\x01ah\x00s.",
        # Deeper than Python's own stack.
        b"](" * 5000 + b"." + b"e" * 5000,
        b"]" * 5000 + b"a" * 4999 + b".",
    ],
)
def test_bombs_of_references_end_at_once(tmp_path, bomb):
    (tmp_path / "file").write_bytes(bomb)
    with little_memory(5):
        assert read_or_refuse(read, tmp_path / "file") is None


@pytest.mark.parametrize(
    "content",
    [
        # Places of the memo that Python's own reader would make room for, and lengths that it would ask for.
        b"\x80\x02Nr\xff\xff\xff\x7f.",
        b"Np99999999999999\n.",
        b"\x8e" + struct.pack("<Q", 2**62) + b"a.",
        b"\x8e" + struct.pack("<Q", 2**34) + b"a.",
        b"B" + struct.pack("<I", 2**32 - 1) + b"a.",
        b"\x95" + struct.pack("<Q", 2**62) + b"N.",
        b"\x8b" + struct.pack("<I", 2**31) + b"\x01.",
        b"L" + b"9" * 100_000 + b"L\n.",
        # Keys that all have one hash make a dict as slow as a list.
        pickle.dumps(dict.fromkeys(place * (2**61 - 1) for place in range(300))),
        b"N" + b"".join(b"p%d\n" % (place * (2**61 - 1)) for place in range(1, 300)) + b".",
    ],
)
def test_numbers_that_lie_cost_no_memory(tmp_path, content):
    (tmp_path / "file").write_bytes(content)
    with little_memory(5):
        assert read_or_refuse(read, tmp_path / "file") is None


def test_one_content_many_times_is_refused(tmp_path):
    """A thousand arrays of one buffer are nothing until someone joins them, or turns their bytes round."""
    big = np.zeros(100_000, ">f4")
    (tmp_path / "file").write_bytes(pickle.dumps([big] * 1000))
    with little_memory(5), pytest.raises(DatasetError, match=r"file was not opened: it makes far more than"):
        read(tmp_path / "file")
    text = b"X" + struct.pack("<I", 100_000) + b"a" * 100_000 + b"q\x00"
    encode = b"c_codecs\nencode\nh\x00U\x06latin1\x86R"
    (tmp_path / "file").write_bytes(b"\x80\x02" + text + b"](" + encode * 1000 + b"e.")
    with little_memory(5), pytest.raises(DatasetError, match=r"file was not opened: it makes far more than"):
        read(tmp_path / "file")


def test_steps_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_MOST_STEPS", 1000)
    (tmp_path / "file").write_bytes(b"N" * 999 + b".")
    assert read(tmp_path / "file") is None
    (tmp_path / "file").write_bytes(b"N" * 1000 + b".")
    with pytest.raises(DatasetError, match="takes more than 1000 steps"):
        read(tmp_path / "file")


@pytest.mark.parametrize(
    "program",
    [
        # What is known can be neither changed nor called in another way.
        b"c_codecs\nencode\n}U\x0c__defaults__(tsb.",
        b"c_codecs\nencode\n(NU\x0c__defaults__Ndtb.",
        b"cnumpy\ndtype\n)\x81.",
        b"cnumpy\ndtype\n)}\x92.",
        b"(cnumpy\ndtype\no.",
        b"cnumpy\nndarray\n)R.",
        b"\x82\x01.",
        b"Pname\n.",
        b"NQ.",
        b"\x97.",
        b"c_codecs\nencode\n(U\x01aU\x05rot13tR.",
    ],
)
def test_other_steps_are_refused(tmp_path, program):
    (tmp_path / "file").write_bytes(program)
    assert read_or_refuse(read, tmp_path / "file") is None


def test_a_name_cannot_break_the_line_or_colour_the_terminal(tmp_path):
    (tmp_path / "file").write_bytes(b"\x8c\x05a\n\x1b[m\x8c\x02b\n\x93.")
    with pytest.raises(DatasetError, match=r"asks to call a \?\[m\.b, which no file"):
        read(tmp_path / "file")


def test_it_agrees_with_pickle_on_what_it_takes(tmp_path):
    """Flip bits of plain content: what is taken must be what Python's own reader gives."""
    plain = {"a": [1, 2.5, "text", b"bytes", None, True], "b": {"c": [10**30, -5]}}
    taken = 0
    for copy in damaged(pickle.dumps(plain, protocol=3), flips=300, cuts=0):
        (tmp_path / "file").write_bytes(copy)
        found = read_or_refuse(read, tmp_path / "file")
        if found is not None:
            assert_same(found, pickle.Unpickler(io.BytesIO(copy), encoding="bytes").load())
            taken += 1
    assert taken > 30
