"""Tables in files that are read a row group at a time, as often as needed, and never as a whole."""

from weald.data.scanning.scan import Scan, scan

__all__ = ["Scan", "scan"]
