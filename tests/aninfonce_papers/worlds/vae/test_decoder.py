"""Processes seen through a decoder."""

import pytest
import torch

from aninfonce import Sphere
from aninfonce.training import TrainingConfig, fit
from aninfonce_papers.worlds.vae import VAE, DecoderMixing, VAESettings, decoder_process


@pytest.fixture
def vae():
    return VAE((1, 8, 8), VAESettings(dim=4, width=32))


def test_latents_lie_on_the_sphere_and_are_decoded_at_radius_root_d(vae):
    world = decoder_process(vae, [5.0, 5.0, 25.0, 25.0])
    batch = world.sample(200, torch.Generator().manual_seed(0))
    assert bool(Sphere(4).contains(batch.z).all())
    assert bool(Sphere(4).contains(batch.z_pos).all())
    torch.testing.assert_close(batch.x, vae.decode(2 * batch.z).flatten(1))
    assert float(batch.x.min()) >= 0
    assert float(batch.x.max()) <= 1
    step = ((batch.z_pos - batch.z) ** 2).mean(dim=0)
    assert float(step[:2].mean()) > 2 * float(step[2:].mean())
    assert world.concentration.tolist() == [5, 5, 25, 25]
    assert decoder_process(vae, torch.full((4,), 5.0), flat=False).sample(3).x.shape == (3, 1, 8, 8)


def test_the_world_is_frozen_and_apart_from_its_vae(vae):
    mixing = DecoderMixing(vae)
    z = torch.nn.functional.normalize(torch.randn(3, 4), dim=1)
    before = mixing(z)
    with torch.no_grad():
        vae.decoder.layers[0].weight.zero_()
    assert torch.equal(mixing(z), before)
    assert not any(weight.requires_grad for weight in mixing.parameters())
    with pytest.raises(NotImplementedError, match=r"vae\.encode"):
        mixing.inverse(before)


def test_training_takes_it(vae):
    from aninfonce.sources.process_source import ProcessSource

    world = decoder_process(vae, [5.0, 5.0, 25.0, 25.0])
    recipe = {"steps": 20, "batch_size": 64, "growth": (), "unfold": None, "close": None}
    config = TrainingConfig(recipe=recipe, evaluation_pairs=256, checkpoint_every=0)
    fitted = fit(ProcessSource(world, bulk=1024), config)
    assert fitted.embed(world.sample(5).x).shape == (5, 4)


def test_bad_concentrations_are_named(vae):
    with pytest.raises(ValueError, match=r"`concentration` must have shape \(4,\), got \(3,\)"):
        decoder_process(vae, [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="`concentration` must be at least 0"):
        decoder_process(vae, [1.0, 2.0, 3.0, -1.0])
