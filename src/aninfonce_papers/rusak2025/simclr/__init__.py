"""What the studies of augmented images share: networks, losses, views, probes and the run of one cell."""
