"""Pairs of views as training takes them."""

import numpy as np
import pytest
import torch
from torch import nn

from aninfonce.augment import Flip, ViewSource, simclr
from aninfonce.encoders import MLP
from aninfonce.training import TrainingConfig, fit
from tests.datasets.files import pixels, write_pictures


def test_views_are_of_the_rows_they_name():
    images = torch.arange(10).byte()[:, None, None, None].expand(10, 1, 8, 8)
    source = ViewSource(images, Flip(p=0.5), seed=0)
    epoch = [source.views(5) for _ in range(2)]
    assert sorted(torch.cat([views.rows for views in epoch]).tolist()) == list(range(10))
    for views in epoch:
        torch.testing.assert_close(views.pairs.x[:, 0, 0, 0], views.rows / 255)
        torch.testing.assert_close(views.pairs.x_pos[:, 0, 0, 0], views.rows / 255)
        assert len(views.parameters["flip.applied"]) == 5


def test_a_stream_goes_on_where_its_state_was_taken():
    source = ViewSource(pixels(20), simclr(), seed=4)
    source.next(8)
    state = source.state()
    expected = [source.next(8) for _ in range(3)]
    aside = source.fresh(30)
    assert len(aside) == 20
    other = ViewSource(pixels(20), simclr(), seed=9)
    other.restore(state)
    for batch in expected:
        again = other.next(8)
        assert torch.equal(again.x, batch.x)
        assert torch.equal(again.x_pos, batch.x_pos)
    assert torch.equal(other.fresh(30).x, aside.x)


def test_fresh_views_do_not_move_the_stream():
    one, two = (ViewSource(pixels(20), simclr(), seed=1) for _ in range(2))
    one.fresh(10)
    assert torch.equal(one.next(5).x, two.next(5).x)


def test_pictures_are_opened_row_by_row(tmp_path):
    from aninfonce.datasets import read_folder

    write_pictures(tmp_path)
    source = ViewSource(read_folder(tmp_path, 16).images, simclr(), flat=True)
    assert source.next(4).x.shape == (4, 3 * 16 * 16)


def test_wrong_images_and_batches_are_named():
    with pytest.raises(ValueError, match="`images` must be at least 2 of shape"):
        ViewSource(np.zeros((5, 8, 8)), simclr())
    with pytest.raises(ValueError, match="`n` must be at most the number of images, 20, got 21"):
        ViewSource(pixels(20), simclr()).next(21)


def test_training_on_views_of_real_digits(digits):
    source = ViewSource(digits.images, simclr("mnist"), seed=0)
    recipe = {"steps": 150, "batch_size": 64, "growth": (), "warmup": 10, "unfold": None, "close": None}
    config = TrainingConfig(dim=8, recipe=recipe, evaluation_pairs=256, checkpoint_every=0, log_every=15)
    encoder = nn.Sequential(nn.Flatten(), MLP(784, 8, generator=torch.Generator().manual_seed(0)))
    fitted = fit(source, config, encoder=encoder)
    # Chance is ln 64 = 4.16; cropped digits are hard to tell apart.
    assert fitted.history[0]["loss"] < 4.2
    assert fitted.history[-1]["loss"] < 3.95
