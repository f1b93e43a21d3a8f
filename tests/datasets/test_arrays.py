"""Arrays in files: read as they were saved, or refused in one line before memory is taken."""

import io
import os
import struct
import zipfile

import numpy as np
import pytest

from aninfonce.datasets import DatasetError
from aninfonce.datasets.arrays import list_arrays, read_npy, read_npz
from tests.datasets.damage import damaged, little_memory, read_or_refuse

ARRAYS = {
    "x": np.random.default_rng(0).normal(size=(30, 4)).astype(np.float32),
    "labels": np.arange(30) % 3,
    "wide": np.asfortranarray(np.arange(12.0).reshape(3, 4)).astype(">f8"),
    "mask": np.array([[True, False]]),
    "none": np.empty((0, 5), np.uint8),
    "one": np.array(7, dtype=np.int16),
}


def npy(array, **options):
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asanyarray(array), **options)
    return file.getvalue()


def npy_with_header(text, content=b""):
    text = text.encode("latin1")
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + content


def same(found, expected):
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_arrays_come_back_as_they_were_saved(tmp_path, save):
    save(tmp_path / "a.npz", **ARRAYS)
    found = read_npz(tmp_path / "a.npz")
    assert list(found) == list(ARRAYS)
    for name, array in ARRAYS.items():
        same(found[name], array)
    assert list(read_npz(tmp_path / "a.npz", ["labels", "missing"])) == ["labels"]
    assert list_arrays(tmp_path / "a.npz") == "labels, mask, none, one, wide, x"


@pytest.mark.parametrize("name", list(ARRAYS))
@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize("mapped", [False, True])
def test_single_arrays_in_every_version(tmp_path, name, version, mapped):
    (tmp_path / "a.npy").write_bytes(npy(ARRAYS[name], version=version))
    found = read_npy(tmp_path / "a.npy", mapped=mapped)
    same(found, ARRAYS[name])
    assert isinstance(found, np.memmap) == (mapped and ARRAYS[name].size > 0)
    if mapped and ARRAYS[name].size:
        assert not found.flags.writeable


def test_headers_of_python_2(tmp_path):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L), }"
    (tmp_path / "a.npy").write_bytes(npy_with_header(header, np.arange(6, dtype="<f4").tobytes()))
    same(read_npy(tmp_path / "a.npy"), np.arange(6, dtype="<f4").reshape(2, 3))


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_damaged_npz_files_are_read_right_or_refused(tmp_path, save):
    save(tmp_path / "a.npz", **ARRAYS)
    content = (tmp_path / "a.npz").read_bytes()
    refused = 0
    for copy in damaged(content):
        (tmp_path / "b.npz").write_bytes(copy)
        found = read_or_refuse(read_npz, tmp_path / "b.npz")
        refused += found is None
        if found is not None:
            # The sums of zip leave no wrong number unseen.
            for name, array in ARRAYS.items():
                same(found[name], array)
    assert refused > 100


@pytest.mark.parametrize("mapped", [False, True])
def test_damaged_npy_files_are_read_as_numpy_does_or_refused(tmp_path, mapped):
    np.save(tmp_path / "a.npy", ARRAYS["x"])
    content = (tmp_path / "a.npy").read_bytes()
    for copy in damaged(content, flips=300):
        (tmp_path / "b.npy").write_bytes(copy)
        found = read_or_refuse(lambda path: read_npy(path, mapped=mapped), tmp_path / "b.npy")
        assert found is None or len(copy) == len(content)
        if found is not None:
            same(found, np.load(tmp_path / "b.npy", allow_pickle=False))


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.array([None, {}]), r"must hold real numbers, got the type '\|O'"),
        (np.zeros(3, dtype=[("a", "<f4"), ("b", "<i8")]), "must hold real numbers, got a structured array"),
        (np.array(["a", "bc"]), "must hold real numbers, got the type '<U2'"),
        (np.array([b"a"]), r"must hold real numbers, got the type '\|S1'"),
        (np.array([1j]), "must hold real numbers, got the type '<c16'"),
        (np.array(["2020-01-01"], "M8[D]"), r"must hold real numbers, got the type '<M8\[D\]'"),
    ],
)
def test_other_types_are_named(tmp_path, array, message):
    np.savez(tmp_path / "a.npz", x=np.zeros(2), y=array)
    with pytest.raises(DatasetError, match=f"array `y` of .*a.npz {message}"):
        read_npz(tmp_path / "a.npz")
    assert list(read_npz(tmp_path / "a.npz", ["x"])) == ["x"]
    np.save(tmp_path / "a.npy", array)
    with pytest.raises(DatasetError, match=rf"a\.npy {message}"):
        read_npy(tmp_path / "a.npy")


def test_pickles_inside_are_not_opened(tmp_path):
    class Harmful:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "made"),)

    np.save(tmp_path / "a.npy", np.array([Harmful()], dtype=object))
    with pytest.raises(DatasetError, match="real numbers"):
        read_npy(tmp_path / "a.npy")
    assert not (tmp_path / "made").exists()


def test_renamed_files_are_told(tmp_path):
    (tmp_path / "a.npz").write_bytes(npy(ARRAYS["x"]))
    with pytest.raises(DatasetError, match=r"a\.npz is an \.npy file under another name"):
        read_npz(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", x=ARRAYS["x"])
    os.rename(tmp_path / "b.npz", tmp_path / "b.npy")
    with pytest.raises(DatasetError, match=r"b\.npy is an \.npz file under another name"):
        read_npy(tmp_path / "b.npy")


def test_places_without_a_file(tmp_path):
    with pytest.raises(DatasetError, match="nothing does not exist"):
        read_npy(tmp_path / "nothing")
    with pytest.raises(DatasetError, match="must be a file, got a folder"):
        read_npz(tmp_path)
    # Opening a pipe would wait for a writer, for ever.
    os.mkfifo(tmp_path / "pipe.npy")
    with pytest.raises(DatasetError, match="must be a file, got no plain file"):
        read_npy(tmp_path / "pipe.npy")


HUGE = "{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (npy_with_header(HUGE % "4000000000, 100"), "announces 3200000000000 bytes"),
        (npy_with_header(HUGE % "9999999999999999999, 9999999999999"), "announces .* bytes"),
        (npy_with_header(HUGE % ("9" * 3900)), "damaged"),
        (npy_with_header(HUGE % ("1, " * 100), bytes(8)), "damaged"),
        (
            npy_with_header("{'descr': '<U0', 'fortran_order': False, 'shape': (4000000000,), }"),
            "real numbers",
        ),
        (npy_with_header("(" * 4000), "damaged header"),
        (npy_with_header("{" + " " * 4000), "damaged header"),
        (npy_with_header("{'shape': (1,), 'shape': (1,), 'shape': (1,), }"), "damaged header"),
        (npy_with_header("{'descr': __import__('os').mkdir('made'), 'shape': (1,), }"), "damaged header"),
        (
            b"\x93NUMPY\x02\x00" + struct.pack("<I", 4_000_000_000),
            "at most 4096 bytes, got one of 4000000000",
        ),
        (b"\x93NUMPY\x09\x00" + bytes(100), "no array of numpy"),
        (npy(np.arange(3)) + npy(np.arange(3)), "announces 24 bytes"),
    ],
)
def test_headers_that_lie_cost_no_memory(tmp_path, content, message):
    (tmp_path / "a.npy").write_bytes(content)
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("x.npy", content)
    for read, name in ((read_npy, "a.npy"), (read_npz, "a.npz")):
        with little_memory(5), pytest.raises(DatasetError, match=message) as refusal:
            read(tmp_path / name)
        assert str(tmp_path / name) in str(refusal.value)
        assert len(str(refusal.value)) < 500 + len(str(tmp_path))


def bomb(path, method=zipfile.ZIP_DEFLATED, members=1, size=10_000_000):
    """Write zeros that pack a thousandfold, as honest an .npz file as any."""
    with zipfile.ZipFile(path, "w", method) as archive:
        for number in range(members):
            archive.writestr(f"x{number}.npy", npy(np.zeros(size, np.uint8)))
    return path


def test_bombs_are_refused_before_they_unpack(tmp_path, monkeypatch):
    honest = read_npz(bomb(tmp_path / "a.npz"))["x0"]
    assert honest.shape == (10_000_000,)
    # As if the file were larger, and the bound with it.
    monkeypatch.setattr("aninfonce.datasets.reading._FREE", 5_000_000)
    with little_memory(2), pytest.raises(DatasetError, match=r"a\.npz was not opened: it announces 100001"):
        read_npz(tmp_path / "a.npz")
    bomb(tmp_path / "b.npz", members=8, size=1_000_000)
    with little_memory(2), pytest.raises(DatasetError, match=r"b\.npz was not opened: it announces 80010"):
        read_npz(tmp_path / "b.npz")
    bomb(tmp_path / "c.npz", zipfile.ZIP_BZIP2, size=2_000_000)
    with little_memory(2), pytest.raises(DatasetError, match="must be stored or deflated, got method 12"):
        read_npz(tmp_path / "c.npz")


def test_a_size_in_the_directory_that_lies(tmp_path):
    """The directory claims a large member, within bounds, and the file has little."""
    np.savez_compressed(tmp_path / "a.npz", x=np.zeros(1000))
    content = (tmp_path / "a.npz").read_bytes()
    for size in (7_000, 9_000, 200_000_000):
        changed = content.replace(struct.pack("<I", 8128), struct.pack("<I", size))
        assert changed != content
        (tmp_path / "b.npz").write_bytes(changed)
        with little_memory(5), pytest.raises(DatasetError, match=r"b\.npz"):
            read_npz(tmp_path / "b.npz")
