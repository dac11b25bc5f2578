"""Native calls about codes on disk."""
