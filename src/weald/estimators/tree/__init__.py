"""Decision trees: fit, pruning, and the methods that show a tree."""
