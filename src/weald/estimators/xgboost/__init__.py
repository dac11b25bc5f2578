"""Boosting under xgboost's names: the scikit-learn classes.

`parameters` is the constructor of all, `options` the ranges, `names` old names and arguments that belong
elsewhere, `ignored` warns of parameters without effect. `rows` reads tables and sets, `constraints` and
`batches` what xgboost's users write; `plan` puts parameters into the loop's words and picks the method that
"auto" means; `training` is one training, `stopping` holds rows out or counts rounds by folds, `predict` and
`importances` read the model. `model` is the class of all, `forest` has `XGBRF*`. The native interface is in
`native`.
"""
