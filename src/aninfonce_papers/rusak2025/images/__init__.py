"""Studies of images: real ones, and those that a decoder makes of known latents."""
