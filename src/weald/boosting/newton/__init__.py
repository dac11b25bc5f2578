"""Newton boosting, as xgboost has it: objectives, the step of a round, its rows.

`loss_table` knows each objective (loss in core/boosting/losses, link, targets), `losses` bind it to a
target, `custom` does so for users' functions, `base_scores` say where training starts (equation L12).
`step` is a round and `dart` its drops (equation 7), `rows` the rows in memory (core/tree/newton; equations
5 and 6), `learning_rate` the size of its step where none was given (equation 12), `watch` what happens
around a round: metrics, callbacks, stopping, progress. `row_loss` of an objective leads to gradients that
are never stored (core/tree/statistics/gradient_source.h). Equations of docs/methods/boosting.md.
"""
