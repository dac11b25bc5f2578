"""xgboost's native interface: `DMatrix`, `Booster`, `train` and `cv`.

`matrix` with its `matrix_parts`, `quantile_matrix` on it; `train` with its `arguments`, on a DMatrix
`matrix_training`; `cross_validation` by folds. `booster` can be asked by `reading`, trained a round at a
time by `rounds`, shown by `dump`; `learner` is the model behind it.
"""
