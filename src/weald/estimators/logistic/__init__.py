"""Logistic regression: `regression` is the estimator, `options` its parameters, `model` what a fit leaves."""
