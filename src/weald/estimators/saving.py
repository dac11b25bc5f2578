"""`save`, for every estimator that a model file can keep."""

from __future__ import annotations

import os
from typing import Any

from sklearn.utils.validation import check_is_fitted


class Saving:
    """An estimator whose fitted model can be written to a file."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file, which `weald.load` reads back.

        Parameters
        ----------
        path : str or path-like
            Where to; by habit the name ends in `.weald`.
        """
        check_is_fitted(self)
        from weald.io import model_file

        model: Any = self
        model_file.save(model, path)
