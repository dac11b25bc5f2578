"""Rare classes: which rows a sampler adds or drops, and what that does to probabilities.

`strategy` says how many rows of which class, `neighbours` who is near whom; `over` chooses the lines that
new rows lie on and `under` the rows that go. `made` and `noise` have the numbers of new rows, `levels` their
levels; `assemble` gives the user's own kind of table back. `priors` undoes the shift of class shares in
probabilities. The equations are in docs/methods/resampling.md.
"""
