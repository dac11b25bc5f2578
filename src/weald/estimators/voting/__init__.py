"""Voting: different estimators on the same rows, counted or averaged.

`base` has named members and their parameters; equation B9 of docs/methods/forests.md.
"""
