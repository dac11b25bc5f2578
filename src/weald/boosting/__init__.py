"""Boosting: one loop, its losses, metrics, stopping and callbacks.

`run_rounds` in `loop` is the loop, whatever the step: `newton` for XGBoost's trees, `stage` for Friedman's
trees by leaf rules (any regressor: estimators/gradient_boosting/any_bases). `links` turn raw scores into
predictions, `metrics` judge them, `ranking` has queries and their objectives, `sampling` draws rows and
columns (equation 8 of docs/methods/boosting.md). `callbacks`, `stopping` and `monitors` are what users hang
in, under xgboost's names in `weald.callback`; `records` is handed around.
"""
