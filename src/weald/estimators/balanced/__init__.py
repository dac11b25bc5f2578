"""Ensembles for rare classes: every member learns from rows in which classes are balanced, drawn by counter.

`class_rows` says how many rows of each class are drawn, `prior_shift` undoes what that does to probabilities
(equations R10 and R11 of docs/methods/balanced_ensembles.md).
"""
