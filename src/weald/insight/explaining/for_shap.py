"""An `Explanation` that is shap's own too; imported only where the user has imported shap."""

from __future__ import annotations

from typing import Any

import shap

from weald.insight.explaining.explanation import Explanation


class ShapExplanation(Explanation, shap.Explanation):  # type: ignore[misc]  # shap has no types
    """weald's values and slicing; what only shap's class can do works on a copy in its own form."""

    @property
    def _s(self) -> Any:
        copied: Any = self.to_shap()
        return copied._s

    @property
    def op_history(self) -> list[Any]:
        """What shap would have noted of the operations so far; weald notes nothing."""
        return []

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuilt as a plain one where shap is not imported."""
        return _rebuilt, (vars(self),)

    def __copy__(self) -> Any:
        return self.to_shap()


def _rebuilt(state: dict[str, Any]) -> Explanation:
    made = Explanation.__new__(Explanation)
    vars(made).update(state)
    return made
