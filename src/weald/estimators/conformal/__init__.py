"""`Conformal`: intervals and sets of labels around any estimator.

`rows` reads what `fit` is given, `fitting` has the methods, `judges` the fitted models that judge new rows,
`bagged` those that need no refit, `quantiles` those of CQR. Equations: docs/methods/conformal.md.
"""
