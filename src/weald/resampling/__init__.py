"""Rare classes: which rows a sampler adds or drops, and what that does to probabilities.

`priors` undoes the shift of class shares in probabilities; the equations are in docs/methods/resampling.md.
"""
