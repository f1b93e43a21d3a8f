"""SlowVAE: its divergences by quadrature, its loss put together by hand, and a few steps of training."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy.integrate import quad
from scipy.stats import laplace, norm

from aninfonce.sources import SequenceSource
from aninfonce.training import NonFiniteLoss, Recipe
from aninfonce_papers.worlds.vae import SlowVAE, SlowVAESettings, kl_to_laplace, kl_to_normal, train_slow_vae

POINTS = [(0.0, 1.0), (0.7, 0.3), (-2.5, 0.05), (1e-3, 2.0), (4.0, 1.5)]


def divergence(mean, deviation, prior):
    """Integrate the definition, split where the Laplace density has its kink."""
    own = norm(mean, deviation)

    def integrand(x):
        return own.pdf(x) * (own.logpdf(x) - prior.logpdf(x))

    low, high = mean - 12 * deviation, mean + 12 * deviation
    places = sorted({low, min(max(0.0, low), high), mean, high})
    return sum(quad(integrand, a, b, epsabs=1e-12, epsrel=1e-11)[0] for a, b in pairwise(places))


@pytest.mark.parametrize(("mean", "deviation"), POINTS)
def test_divergences_by_quadrature(mean, deviation):
    given = torch.tensor([mean, 2 * math.log(deviation)], dtype=torch.float64)
    assert float(kl_to_normal(*given)) == pytest.approx(divergence(mean, deviation, norm()), abs=1e-9)
    for rate in (0.5, 6.0):
        expected = divergence(mean, deviation, laplace(scale=1 / rate))
        assert float(kl_to_laplace(*given, rate)) == pytest.approx(expected, abs=1e-8)


def test_the_divergence_has_finite_gradients_where_the_posterior_is_narrow():
    mean = torch.tensor([0.0, 3.0, -1e-6], requires_grad=True)
    log_variance = torch.tensor([-40.0, -60.0, -30.0], requires_grad=True)
    kl_to_laplace(mean, log_variance, 6.0).sum().backward()
    assert bool(torch.isfinite(mean.grad).all())
    assert bool(torch.isfinite(log_variance.grad).all())
    with pytest.raises(ValueError, match="`rate` must be a finite number above 0"):
        kl_to_laplace(mean, log_variance, 0.0)


@pytest.mark.parametrize(("entropy", "counted"), [("each", 2), ("once", 1)])
def test_the_loss_is_put_together_as_published(entropy, counted):
    """2·reconstruction + β·KL to the normal + γ·KL to the Laplace, by the authors' means over images."""
    settings = SlowVAESettings(dim=3, beta=0.5, gamma=2.0, rate=4.0, entropy=entropy)
    vae = SlowVAE(settings).double()
    x, x_pos = (torch.rand(2, 5, 1, 64, 64, generator=torch.Generator().manual_seed(0)) < 0.2).double()
    before = vae.generator.get_state()
    parts = vae.loss(x, x_pos)
    vae.generator.set_state(before)
    mean, log_variance = vae.posterior(torch.cat([x, x_pos]))
    noise = torch.randn(mean.shape, generator=vae.generator)
    p = vae.decoder(mean + noise * (log_variance / 2).exp()).sigmoid()
    images = torch.cat([x, x_pos])
    pixels = -(images * p.log() + (1 - images) * (1 - p).log()).sum() / 10
    normal = kl_to_normal(mean, log_variance).sum(dim=1).mean()
    change, density = mean[:5] - mean[5:], torch.distributions.Normal(mean, (log_variance / 2).exp())
    entropies = density.entropy().sum(dim=1)
    both = sum(
        kl_to_laplace(sign * change, part, 4.0).sum(dim=1) + ent
        for sign, part, ent in zip((1, -1), log_variance.chunk(2), entropies.chunk(2), strict=True)
    )
    slow = both.mean() - counted * entropies.mean()
    expected = 2 * pixels + 0.5 * normal + 2.0 * slow
    assert float(vae.weighted(parts).detach()) == pytest.approx(float(expected.detach()), rel=1e-9)


def frames(n=40):
    """A bright square that moves."""
    images = np.zeros((n, 1, 64, 64), dtype=bool)
    for i in range(n):
        images[i, 0, 20:30, i : i + 10] = True
    return images


def test_training_lowers_the_loss_and_a_seed_decides():
    recipe = Recipe(steps=12, batch_size=8, growth=(), optimizer="adam", adam_lr=2e-3, warmup=0)
    before = torch.get_rng_state()
    trained, again = (train_slow_vae(SequenceSource([frames()]), recipe) for _ in range(2))
    assert torch.equal(torch.get_rng_state(), before)
    images = torch.from_numpy(frames())
    assert torch.equal(trained.embed(images), again.embed(images))
    pair = images[:8].float(), images[1:9].float()
    start, end = (float(vae.weighted(vae.loss(*pair)).detach()) for vae in (SlowVAE(), trained))
    assert end < 0.7 * start


def test_the_decoder_mirrors_the_encoder():
    vae = SlowVAE(SlowVAESettings(dim=4))
    assert vae.decoder(torch.zeros(2, 4)).shape == (2, 1, 64, 64)
    kernels = [tuple(layer.weight.shape[:2]) for layer in vae.decoder if hasattr(layer, "kernel_size")]
    assert kernels == [(256, 64), (64, 64), (64, 32), (32, 32), (32, 1)]


def test_bad_input_is_named():
    vae = SlowVAE()
    with pytest.raises(ValueError, match="`x_pos` must have the shape of `x`"):
        vae.loss(torch.zeros(2, 1, 64, 64), torch.zeros(3, 1, 64, 64))
    with pytest.raises(ValueError, match="rate"):
        SlowVAESettings(rate=0.0)
    bad = np.full((10, 1, 64, 64), np.nan, dtype=np.float32)
    with pytest.raises(NonFiniteLoss, match="loss nan at step 0"):
        train_slow_vae(SequenceSource([bad]), Recipe(steps=2, batch_size=4, growth=()))
