"""Models on disk: one file each, written whole, read with suspicion."""
