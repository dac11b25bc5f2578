"""Filling missing values, for methods that cannot take them; weald's own need none of it.

Equations I1 to I5 of docs/methods/forests.md: `rules` say how a gap is filled, `sums` finds sums weighted
by proximity leaf by leaf, `columns` is what is known of each. The imputer: estimators/impute.
"""
