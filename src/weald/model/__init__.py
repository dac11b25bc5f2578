"""What a fitted tree model is, and everything that reads it: predictions, text, scikit-learn's view.

`forest` is the model; `predict` and `read` take new tables. `join` makes one forest of several and one tree
of a forest, `assemble` one of trees as they grow. `conditions`, `reach` and `values` put splits and nodes
into words, for `rules` and for pictures. `prune` with `held_out` (docs/methods/pruning.md), `importances`
by criterion, `tree_view` for tools that read `tree_`.
"""
