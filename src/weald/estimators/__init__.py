"""Estimators: the interface of scikit-learn on the engine of weald.

A folder for each family, in the order in which they may import each other: `shared`, `tree`, `forest`,
`bagging`, `voting`, `xgboost`, `adaboost`, `gradient_boosting`, `svm`, `impute`. In each, `base` has the
steps of `fit`, `options` the parameters with their ranges, `saving` what a model file keeps.
"""
