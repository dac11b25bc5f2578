"""Ensembles of trees, shown: which tree is meant (`which`), the way of a row through all (`story`), HTML."""
