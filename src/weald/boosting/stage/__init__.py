"""Stagewise boosting, as Friedman has it: losses, leaf values, the step of a round, its rows."""
