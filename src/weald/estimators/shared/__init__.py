"""What estimators of several families share: growth options, members, labels, folds, saving.

`state` gives one model per answer while another thread refits; `fitted` is for estimators whose model is
one forest, `labels` for what classifiers predict; `growth` puts parameters into the engine's words, with
`monotone_constraints` and `feature_combinations` as users write them. `members` has seeds of members and
work side by side, `helper_threads` its threads, `routing` metadata. `contract` is what scikit-learn asks of
all.
"""
