"""Estimators: the interface of scikit-learn on the engine of weald."""
