"""Explanations of forests: what core/explain computes."""
