"""weald: supervised learning on tables, the whole classical line on one engine."""

__version__ = "0.1.0"
