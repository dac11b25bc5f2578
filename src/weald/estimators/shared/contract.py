"""What scikit-learn asks of every estimator: parameters by name, whether it is fitted, which tables it takes.

The classes stand before scikit-learn's own.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

from weald.estimators.shared.state import OneModel
from weald.parameters import check_names, checked

if TYPE_CHECKING:
    from sklearn.utils import Tags


class CheckedParameters(OneModel):
    """Parameters that a record of options checks."""

    _options: ClassVar[type[Any]]
    #: whether parameters may be estimators, whose own are named as in `estimator__max_depth`
    _nested: ClassVar[bool] = False

    def _checked_options(self) -> Any:
        """The parameters as a validated record."""
        values = {each.name: getattr(self, each.name) for each in fields(self._options)}
        return checked(self._options, type(self).__name__, values)

    def set_params(self, **params: object) -> Self:
        """Set parameters by name; those of an estimator within as `estimator__name`.

        Parameters
        ----------
        **params
            Names and new values; they are checked when `fit` reads them.

        Returns
        -------
        self
            The estimator.

        Raises
        ------
        ParameterError
            For a name the estimator does not have, with the nearest one it has.
        """
        names = [name.partition("__")[0] if self._nested else name for name in params]
        check_names(names, type(self).__name__, list(self.get_params(deep=False)))  # type: ignore[attr-defined]
        return super().set_params(**params)  # type: ignore[misc,no-any-return]


class TableManners(OneModel):
    """An estimator that takes any table."""

    #: what `fit` assigns
    _mark: ClassVar[str] = "forest_"

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` has ended well once."""
        return self._mark in vars(self)

    def __sklearn_tags__(self) -> Tags:
        """What scikit-learn may expect of the tables this takes."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        return tags
