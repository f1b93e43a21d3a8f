"""Our own studies beyond the sphere: recordings whose sources are known."""
