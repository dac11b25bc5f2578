"""How sure a forest is: variances, quantiles and intervals, all from the trees it has.

Equations U1 to U9 of docs/methods/forests.md: `jackknife`, `quantiles`, `intervals`, on the blocks of
`trees`.
"""
