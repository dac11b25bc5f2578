"""Gradient boosting under scikit-learn's names: Friedman's machine, stage by stage."""
