"""How sure we are: of statistics (`bootstrap/`), of scores (`scores/`), of a forest's predictions.

The forest's are from the trees it has, equations U1 to U9 of docs/methods/forests.md: `jackknife`,
`quantiles`, `intervals`, on the blocks of `trees`.
"""
