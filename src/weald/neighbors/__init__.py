"""Nearest rows of tables of any kind, apart from the estimators.

`metrics` has the distances by name; `space` says where rows stand and how far apart they are, of what
`statistics` tell of the training table; `places` are rows that stand there. `search` finds the nearest ones
(core/neighbors; docs/methods/neighbors.md).
"""
