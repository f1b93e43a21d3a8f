"""Models that make images of latents, and processes that look through them."""

from aninfonce_papers.worlds.vae.decoder import DecoderMixing, decoder_process
from aninfonce_papers.worlds.vae.divergences import kl_to_laplace, kl_to_normal
from aninfonce_papers.worlds.vae.fitting import load_vae, save_vae, train_vae
from aninfonce_papers.worlds.vae.slow_vae import SlowVAE, SlowVAESettings, train_slow_vae
from aninfonce_papers.worlds.vae.vae import VAE, VAESettings

__all__ = [
    "VAE",
    "DecoderMixing",
    "SlowVAE",
    "SlowVAESettings",
    "VAESettings",
    "decoder_process",
    "kl_to_laplace",
    "kl_to_normal",
    "load_vae",
    "save_vae",
    "train_slow_vae",
    "train_vae",
]
