"""Local copies: every format gives the same arrays; what is damaged is named."""

import gzip
import json
import os
import pickle

import numpy as np
import pytest

from aninfonce.datasets import DatasetError, load_images, read_folder, read_idx, read_images
from tests.datasets.damage import damaged, little_memory, read_or_refuse
from tests.datasets.files import idx_bytes, pixels, write_batches, write_idx, write_pictures

LABELS = np.arange(20) % 10


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("inner", [".", "MNIST/raw"])
def test_idx_files(tmp_path, packed, inner):
    images = pixels(20, (1, 28, 28))
    write_idx(tmp_path / inner, images, LABELS, packed=packed)
    found = read_images(tmp_path)
    np.testing.assert_array_equal(found.images, images)
    np.testing.assert_array_equal(found.labels, LABELS)
    with pytest.raises(DatasetError, match="test part"):
        read_images(tmp_path, "test")


def test_plain_idx_stays_on_disk(tmp_path):
    write_idx(tmp_path, pixels(20, (1, 28, 28)), LABELS)
    assert isinstance(read_idx(tmp_path / "train-images-idx3-ubyte"), np.memmap)


@pytest.mark.parametrize("kind", ["python", "binary", "sheets"])
def test_cifar_formats_agree(tmp_path, kind):
    images = pixels(20)
    write_batches(tmp_path, kind, images, LABELS)
    found = load_images(tmp_path)
    np.testing.assert_array_equal(found.images, images)
    np.testing.assert_array_equal(found.labels, LABELS)
    assert found.images.dtype == np.uint8


@pytest.mark.parametrize("kind", ["python", "binary", "sheets"])
def test_a_batch_cut_short_or_missing_is_named(tmp_path, kind):
    write_batches(tmp_path, kind, pixels(20), LABELS)
    third = next(tmp_path.glob("data_batch_3*"))
    third.write_bytes(third.read_bytes()[:-100])
    with pytest.raises(DatasetError, match=r"data_batch_3.* damaged"):
        read_images(tmp_path)
    third.unlink()
    with pytest.raises(DatasetError, match="data_batch_3"):
        read_images(tmp_path)


def test_a_pickle_that_would_run_something_is_refused(tmp_path):
    class Harmful:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "made"),)

    write_batches(tmp_path, "python", pixels(20), LABELS)
    (tmp_path / "data_batch_2").write_bytes(pickle.dumps({b"data": Harmful(), b"labels": []}, protocol=2))
    with pytest.raises(DatasetError, match=r"data_batch_2 was not opened: it asks to call posix\.mkdir"):
        read_images(tmp_path)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no idx file"),
        (b"\x89PNG", "no idx file"),
        (bytes([0, 0, 13, 1, 0, 0, 0, 1]), "unsigned bytes"),
        (bytes([0, 0, 8, 3, 0, 0]), "header is incomplete"),
        (idx_bytes(np.zeros((5, 2), np.uint8))[:-1], r"announces 10 bytes of shape \(5, 2\), got 9"),
        (b"\x1f\x8b\x08\x00", "cut short or damaged"),
    ],
)
def test_damaged_idx_files_are_named(tmp_path, content, message):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(DatasetError, match=message):
        read_idx(tmp_path / "file")


@pytest.mark.parametrize("packed", [False, True])
def test_idx_files_with_flipped_bits(tmp_path, packed):
    images = pixels(8, (5, 4))
    content = gzip.compress(idx_bytes(images)) if packed else idx_bytes(images)
    for copy in damaged(content):
        (tmp_path / "file").write_bytes(copy)
        found = read_or_refuse(read_idx, tmp_path / "file")
        assert found is None or len(copy) == len(content)
        if found is not None and packed:
            np.testing.assert_array_equal(found, images)


def test_idx_files_that_unpack_without_end(tmp_path):
    few = idx_bytes(np.zeros((5, 2), np.uint8))
    (tmp_path / "long").write_bytes(gzip.compress(few + bytes(50_000_000)))
    with little_memory(5), pytest.raises(DatasetError, match=r"long .* announces 10 bytes .* got 11"):
        read_idx(tmp_path / "long")
    sizes = bytes([0, 0, 8, 3]) + b"\xff\xff\xff\xff" * 3
    (tmp_path / "large").write_bytes(gzip.compress(sizes))
    with little_memory(5), pytest.raises(DatasetError, match=r"large was not opened: it announces"):
        read_idx(tmp_path / "large")
    (tmp_path / "deep").write_bytes(bytes([0, 0, 8, 200]) + bytes([0, 0, 0, 1]) * 200 + b"x")
    with pytest.raises(DatasetError, match=r"deep cannot be read as an idx file"):
        read_idx(tmp_path / "deep")


@pytest.mark.parametrize(
    "batch",
    [
        [],
        {b"data": 3, b"labels": []},
        {b"data": np.zeros((2, 3072), np.uint8), b"labels": 7},
        {b"data": np.zeros((2, 3072), np.uint8), b"labels": [0]},
        {b"data": np.zeros((2, 3072), np.uint8), b"labels": [0, 10]},
        {b"data": np.zeros((2, 3072), np.uint8), b"labels": [0, -1]},
        {b"data": np.zeros((2, 3072), np.uint8), b"labels": [0, 10**30]},
        {b"data": np.zeros((2, 3072), np.uint8), b"labels": [0, 1.5]},
        {b"data": np.zeros((2, 3071), np.uint8), b"labels": [0, 1]},
    ],
)
def test_wrong_batches_are_named(tmp_path, batch):
    write_batches(tmp_path, "python", pixels(20), LABELS)
    (tmp_path / "data_batch_2").write_bytes(pickle.dumps(batch, protocol=2))
    with pytest.raises(DatasetError, match="data_batch_2"):
        read_images(tmp_path)


@pytest.mark.parametrize(
    "labels", ["", "{}", "[1, [2]]", "[0.5]", "[" * 100_000, f"[{10**30}]", "[true]", "3"]
)
def test_wrong_labels_of_sheets_are_named(tmp_path, labels):
    write_batches(tmp_path, "sheets", pixels(20), LABELS)
    assert json.loads((tmp_path / "train_lables.json").read_text()) == LABELS.tolist()
    (tmp_path / "train_lables.json").write_text(labels)
    with pytest.raises(DatasetError, match=r"train_lables\.json"):
        read_images(tmp_path)


def test_labels_must_match(tmp_path):
    write_idx(tmp_path, pixels(20, (1, 28, 28)), LABELS[:-1])
    with pytest.raises(DatasetError, match=r"got \(20, 28, 28\) and \(19,\)"):
        read_images(tmp_path)
    (tmp_path / "train-labels-idx1-ubyte").unlink()
    with pytest.raises(DatasetError, match="train-labels-idx1-ubyte does not exist"):
        read_images(tmp_path)


def test_folders_of_pictures_open_when_asked(tmp_path):
    write_pictures(tmp_path / "train")
    found = load_images(tmp_path, size=16)
    assert found.classes == ("cat", "dog")
    assert found.images.shape == (6, 3, 16, 16)
    assert found.labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert found.images[4][:, 8, 8].tolist() == [100, 10, 0]
    assert found.images[np.array([5, 0])][:, 1, 0, 0].tolist() == [20, 0]
    assert found.images[1:3].shape == (2, 3, 16, 16)
    (tmp_path / "train" / "dog" / "0.png").write_bytes(b"\x89PNG\r\n")
    assert found.take(3).images.shape == (3, 3, 16, 16)
    with pytest.raises(DatasetError, match=r"dog.0\.png cannot be read"):
        found.images[3]
    with pytest.raises(DatasetError, match="test part"):
        load_images(tmp_path, "test")


def test_what_is_no_data_set_is_said(tmp_path):
    with pytest.raises(DatasetError, match="must hold folders of pictures"):
        read_folder(tmp_path)
    with pytest.raises(DatasetError, match="none of these"):
        read_images(tmp_path)
    with pytest.raises(DatasetError, match="must be one of mnist"):
        load_images(tmp_path / "missing")
    with pytest.raises(ValueError, match="`split` must be one of"):
        load_images("mnist", "validation")


def test_take_draws_rows_with_their_labels(tmp_path):
    images = np.broadcast_to(np.arange(20, dtype=np.uint8)[:, None, None, None], (20, 1, 28, 28))
    write_idx(tmp_path, images, np.arange(20))
    taken = read_images(tmp_path).take(7, seed=1)
    np.testing.assert_array_equal(taken.images[:, 0, 0, 0], taken.labels)
    assert taken.labels.tolist() != list(range(7))
    assert len(read_images(tmp_path).take(100)) == 20
