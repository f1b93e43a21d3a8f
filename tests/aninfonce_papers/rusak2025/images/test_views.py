"""Encoders of views: what they are shown, where their losses start, and what both losses share."""

from types import SimpleNamespace

import pytest
import torch

from aninfonce.augment import ViewSource, simclr
from aninfonce.losses import AnInfoNCE, InfoNCE
from aninfonce_papers.engine import find_study, plan
from aninfonce_papers.rusak2025.images import world

WORLD = "aninfonce_papers.rusak2025.images.world"
CELLS = [
    ("mnist-augmentations", "InfoNCE", (1, 28, 28)),
    ("fig6-images", "encoder", (1, 28, 28)),
    ("augmentation-strength", "InfoNCE, crop × 1", (784,)),
]


def cell(study, name):
    (task,) = plan([find_study(study)], "smoke", only=[name])
    return task.experiment


def by_loss(preset):
    found = find_study("mnist-augmentations").experiments(preset)
    return {experiment.name: experiment for experiment in found}


class Pixels:
    """Stands for a VAE whose latents are ten pixels in the middle of an image."""

    def encode(self, images):
        return torch.as_tensor(images).float().flatten(1)[:, 400:410]


def middle(shown):
    return shown.flatten(1)[:, 400:410]


@pytest.mark.parametrize(("study", "name", "shape"), CELLS)
def test_an_encoder_is_shown_images_in_the_form_that_it_takes(study, name, shape, mnist_folder, monkeypatch):
    """Training and scores show the same form; one that reads the latents off has all of their R²."""
    seen = set()

    def embed(shown):
        seen.add(tuple(shown.shape[1:]))
        return middle(shown)

    def fitted(source, config, *, encoder):
        seen.add(tuple(source.next(2).x.shape[1:]))
        assert encoder(source.next(4).x).shape == (4, world.DIM)
        return SimpleNamespace(embed=embed, concentration=None)

    monkeypatch.setattr(f"{WORLD}.fit", fitted)
    monkeypatch.setattr(f"{WORLD}.train_vae", lambda *_, **__: Pixels())
    monkeypatch.setenv("ANINFONCE_DATA", str(mnist_folder))
    found = cell(study, name).run(0)
    assert seen == {shape}
    assert found["R² of the VAE's latents"] == pytest.approx(1.0, abs=1e-4)


def test_aninfonce_starts_as_infonce():
    """On the sphere −½‖Δ‖²/τ is the inner product over τ, up to a constant that no loss sees."""
    cells = by_loss("laptop")
    drawn = torch.Generator().manual_seed(0)
    z, z_pos = torch.nn.functional.normalize(torch.randn(2, 64, world.DIM, generator=drawn), dim=2)
    with_temperature = InfoNCE(**cells["InfoNCE"].loss.options)
    trained = AnInfoNCE(world.DIM, **cells["AnInfoNCE"].loss.options)
    assert with_temperature.temperature != 1.0
    assert torch.allclose(with_temperature(z, z_pos), trained(z, z_pos), atol=1e-5)


def test_both_losses_have_one_encoder_and_one_recipe():
    for preset in ("smoke", "laptop", "paper"):
        first, *others = by_loss(preset).values()
        assert len(others) == 3
        assert first.recipe.unfold is None
        assert first.recipe.close is None
        assert isinstance(first.encoder, world.PixelEncoder) == (preset == "paper")
        for other in others:
            assert other.encoder == first.encoder
            assert other.recipe == first.recipe


def test_views_without_flips_differ_in_nothing_else():
    cells = by_loss("laptop")
    for loss in world.LOSSES:
        with_flips, without = (cells[name].score for name in (loss, f"{loss} without flips"))
        assert [step.name for step in with_flips.augmentation().steps] == ["crop", "flip", "blur"]
        assert [step.name for step in without.augmentation().steps] == ["crop", "blur"]
        assert without.model_copy(update={"flips": True}) == with_flips
        assert not cells[f"{loss} without flips"].published


def test_weights_of_the_encoder_come_from_the_seed(digits):
    def output(seed):
        source = ViewSource(digits.images, simclr("mnist"), 0)
        return world.PictureEncoder(width=8).network(source, seed).eval()(source.next(3).x)

    assert torch.equal(output(0), output(0))
    assert not torch.equal(output(0), output(1))
