"""Bagging of any estimator; of weald's own trees as one forest.

`bags` draws rows and columns (equation B1 of docs/methods/forests.md); members are `trees` or
`any_members`; `out_of_bag` judges rows, `routing` passes metadata on. `saving` is that of voting too.
"""
