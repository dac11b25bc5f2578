"""Imported by Python at start: removes the editable install's import hook, so that PYTHONPATH finds weald.

Only `make sanitize` puts this folder on the path; child processes of the tests inherit it.
"""

import sys

sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in type(finder).__module__]
