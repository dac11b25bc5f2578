"""Drawings of explanations: beeswarm, waterfall, bars, dependence, the matrix of interactions.

They take anything with the attributes of shap's `Explanation` (`reading` says which).
"""
