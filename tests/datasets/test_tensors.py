"""Images as numbers."""

import numpy as np
import pytest
import torch

from aninfonce.datasets.tensors import coarse_pixels, pixel_tensor


def test_coarse_pixels_are_the_means_of_squares():
    images = np.random.default_rng(0).integers(0, 256, (600, 3, 12, 12), dtype=np.uint8)
    expected = images.reshape(600, 3, 2, 6, 2, 6).mean(axis=(3, 5)) / 255
    found = coarse_pixels(images, squares=2)
    assert found.shape == (600, 12)
    assert np.allclose(found.numpy(), expected.reshape(600, 12), atol=1e-6)


def test_coarse_pixels_of_sizes_that_do_not_divide():
    assert torch.allclose(coarse_pixels(np.full((2, 1, 9, 7), 51, dtype=np.uint8)), torch.full((2, 16), 0.2))


def test_bad_input():
    with pytest.raises(ValueError, match="`squares`"):
        coarse_pixels(np.zeros((2, 3, 8, 8), dtype=np.uint8), squares=0)
    with pytest.raises(ValueError, match="`images` must be uint8 or floating-point"):
        pixel_tensor(np.zeros((2, 3, 8, 8), dtype=np.int64))
    with pytest.raises(ValueError, match="must lie from 0 to 1, got 0 to 2"):
        pixel_tensor(torch.tensor([0.0, 2.0]))
