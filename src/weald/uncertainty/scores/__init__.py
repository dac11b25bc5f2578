"""How sure a score is: intervals, comparisons of two models, bands of curves.

Equations S1 to S8 of docs/methods/uncertainty.md: `told` keeps predictions and calls scikit-learn's metrics
on rows of them, `fast` has those that follow from sums and counts of rows, `areas` DeLong's variance;
`score_interval`, `compare`, `bands` and `calibration` are what users call.
"""
