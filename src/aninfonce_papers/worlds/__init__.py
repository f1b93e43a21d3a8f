"""Worlds with known causes: images of a VAE, drawn scenes, videos of silhouettes."""
