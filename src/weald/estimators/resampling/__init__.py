"""Samplers for rare classes, with imbalanced-learn's names and contract, and `Resampled`, which keeps
probabilities honest.

`base` has the steps of `fit_resample`; the mathematics is in `weald.resampling` (docs/methods/resampling.md).
"""
