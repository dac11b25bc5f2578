"""Nearest rows as estimators: `KNeighborsClassifier` and `KNeighborsRegressor`.

`base` has the steps of `fit` and the questions about neighbours, `classifier` and `regressor` what is made of
their labels and numbers by the `votes`. `saving` is what a model file keeps: the rows themselves.
"""
