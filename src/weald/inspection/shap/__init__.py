"""How much each column moves a prediction: SHAP values (equations of docs/methods/explain.md).

`trees` has those of forests, exact, by core/explain; `linear` those of weighted sums, exact; `permutations`
those of any function, with standard errors. `model` is what an estimator made of trees hands over.
"""
