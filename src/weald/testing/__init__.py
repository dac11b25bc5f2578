"""For the tests of weald and of what is built on it."""

from weald.testing.checks import expected_failed_checks

__all__ = ["expected_failed_checks"]
