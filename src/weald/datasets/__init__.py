"""Small real tables carried in the package, for the demo, examples and tests."""

from weald.datasets.penguins import load_penguins

__all__ = ["load_penguins"]
