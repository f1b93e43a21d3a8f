"""Our own studies: what the papers leave open."""
