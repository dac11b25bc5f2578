"""What estimators of several families share: growth options, members, labels, folds, saving."""
