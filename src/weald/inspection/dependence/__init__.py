"""How predictions depend on columns: partial dependence, accumulated local effects, Friedman's H.

`axes` has the values that a column is set to, `curves` what a forest then predicts, all values in one pass;
`effects` and `interaction` are the sums over them, `records` what users get. Equations E1 to E9 of
`docs/methods/dependence.md`.
"""
