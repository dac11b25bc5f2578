"""Boosting under xgboost's names: the scikit-learn classes."""
