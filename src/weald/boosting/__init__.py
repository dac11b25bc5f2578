"""Boosting: one loop, its losses, metrics, stopping and callbacks."""
