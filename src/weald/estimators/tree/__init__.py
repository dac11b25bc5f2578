"""Decision trees: fit, pruning, and the methods that show a tree.

`pruning` chooses `ccp_alpha` by folds (the path itself: `weald.model.prune`), `pruning_table` is what it
leaves; `pictures` has the methods that show a tree.
"""
