"""Arrays of a configuration as tensors."""

import numpy as np
import pytest
import torch

from aninfonce.datasets import DatasetError
from aninfonce.training.config import DataSettings
from aninfonce.training.open_data import open_data, read_arrays, with_sha256


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float16, ">f4", np.float64, np.longdouble])
def test_all_numbers_become_float32(tmp_path, dtype):
    values = np.arange(6).reshape(2, 3).astype(dtype)
    np.savez(tmp_path / "a.npz", x=values, y=np.asfortranarray(values))
    np.save(tmp_path / "a.npy", values)
    found = read_arrays(tmp_path / "a.npz") | {"z": read_arrays(tmp_path / "a.npy")["x"]}
    assert list(found) == ["x", "y", "z"]
    for tensor in found.values():
        assert torch.equal(tensor, torch.tensor(values.astype(float), dtype=torch.float32))


def test_numbers_beyond_float32_are_refused(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.array([1.0, 1e39]))
    with pytest.raises(DatasetError, match=r"`x of .*a\.npz` must hold numbers that fit float32"):
        read_arrays(tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", x=np.array([1.0, np.inf, np.nan]))
    with pytest.raises(ValueError, match=r"`x of .*a\.npz` must be finite, got NaN or infinity in 2 of 3"):
        read_arrays(tmp_path / "a.npz")


def test_a_single_number_is_no_data(tmp_path):
    np.save(tmp_path / "a.npy", np.array(3.0))
    with pytest.raises(DatasetError, match=r"`x of .*a\.npy` must hold rows, got a single number"):
        read_arrays(tmp_path / "a.npy")


@pytest.mark.parametrize("name", ["x_neg", "z", "z_pos"])
def test_rows_that_do_not_match_are_named(tmp_path, name):
    np.savez(tmp_path / "a.npz", x=np.zeros((4, 2)), x_pos=np.zeros((4, 2)), **{name: np.zeros((3, 2))})
    with pytest.raises(ValueError, match=rf"`{name}` of .*a\.npz must have 4 rows"):
        open_data(DataSettings(arrays=tmp_path / "a.npz"))


def test_missing_arrays_are_named(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.zeros((4, 2)), y=np.zeros(1))
    with pytest.raises(ValueError, match=r"a\.npz must hold arrays `x` and `x_pos`, got x, y"):
        open_data(DataSettings(arrays=tmp_path / "a.npz"))
    np.save(tmp_path / "a.npy", np.zeros((4, 2)))
    with pytest.raises(ValueError, match=r"a\.npy must hold arrays `x` and `x_pos`, got x"):
        open_data(DataSettings(arrays=tmp_path / "a.npy"))


def test_arrays_are_known_by_their_content(tmp_path):
    x = np.ones((4, 2))
    np.savez(tmp_path / "a.npz", x=x, x_pos=x)
    known = with_sha256(DataSettings(arrays=tmp_path / "a.npz"))
    assert len(open_data(known)) == 4
    assert with_sha256(known) == known
    np.savez(tmp_path / "a.npz", x=2 * x, x_pos=x)
    with pytest.raises(ValueError, match=r"a.npz has changed"):
        open_data(known)
    with pytest.raises(ValueError, match=r"b.npz does not exist"):
        with_sha256(DataSettings(arrays=tmp_path / "b.npz"))
    assert with_sha256(DataSettings(process="fig2/25")).sha256 is None
