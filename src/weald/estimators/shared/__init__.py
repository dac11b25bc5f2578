"""What estimators of several families share: parameters in the engine's words, members, labels, folds, saving."""
