"""Native calls that take predictions apart."""
