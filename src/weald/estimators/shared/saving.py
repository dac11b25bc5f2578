"""`save`, for every estimator that a model file can keep, and what a loaded one says of what it has lost."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from sklearn.utils.validation import check_is_fitted

from weald.errors import ParameterError
from weald.io.saved_state import LOADED, Saveable
from weald.model.forest import COMBINATION, Forest


class Saving:
    """An estimator whose fitted model can be written to a file."""

    def save(self, path: str | os.PathLike[str] | BinaryIO) -> None:
        """Write the fitted model to one file, which `weald.load` reads back.

        A subclass is saved, and comes back, as the estimator of weald that it derives from.

        Parameters
        ----------
        path : str, path-like or binary file object
            Where to; by habit the name ends in `.weald`.
        """
        check_is_fitted(self)
        from weald.io import model_file

        model_file.save(cast("Saveable", self), path)

    def to_bytes(self) -> bytes:
        """The bytes of the file that `save` writes, which `weald.load` takes too.

        Returns
        -------
        bytes
            One model file.
        """
        check_is_fitted(self)
        from weald.io import model_file

        return model_file.checked_bytes(cast("Saveable", self))

    if not TYPE_CHECKING:  # a typo in our own code is found by the type checker all the same

        def __getattr__(self, name: str) -> Any:
            """Say why a loaded estimator lacks what training gives; called only where nothing was found."""
            if name.endswith("_") and not name.startswith("_") and not hasattr(type(self), name):
                _say_if_lost(self, name)
            return object.__getattribute__(self, name)  # its own error


def _say_if_lost(model: object, name: str) -> None:
    if LOADED not in vars(model):
        return
    raise AttributeError(
        f"This {type(model).__name__} was loaded from a model file and has no attribute {name!r}. A file "
        "keeps what predictions need, not what training measured or saw (out-of-bag results, learning "
        "curves, rows). Read them before `save`, keep the model with pickle, or fit again.",
        name=name,
        obj=model,
    )


def check_boosted(forest: Forest) -> None:
    """Refuse trees that no boosting grows: whoever takes them apart expects splits by one column."""
    if (forest.kind == COMBINATION).any():
        raise ParameterError("A boosted tree splits by one column at a time.")
