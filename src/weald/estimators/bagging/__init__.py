"""Bagging of any estimator; of weald's own trees as one forest."""
