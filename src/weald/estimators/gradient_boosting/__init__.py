"""Gradient boosting under scikit-learn's names: Friedman's machine, stage by stage.

The loop and the losses are in `weald.boosting.stage`. `rows` holds rows out for early stopping, `start` is
`init`, `models` what a fitted booster is made of, `predict` reads it, `any_bases` boosts any regressor.
"""
