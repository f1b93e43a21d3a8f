"""Local copies: every format gives the same arrays; what is damaged is named."""

import os
import pickle

import numpy as np
import pytest

from aninfonce.datasets import DatasetError, load_images, read_folder, read_idx, read_images
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
