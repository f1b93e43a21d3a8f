"""Models that make images of latents, and processes that look through them."""

from aninfonce.generative.decoder import DecoderMixing, decoder_process
from aninfonce.generative.fitting import load_vae, save_vae, train_vae
from aninfonce.generative.vae import VAE, VAESettings

__all__ = [
    "VAE",
    "DecoderMixing",
    "VAESettings",
    "decoder_process",
    "load_vae",
    "save_vae",
    "train_vae",
]
