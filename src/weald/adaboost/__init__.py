"""AdaBoost: row weights, the judgement of a round, and the loop that both estimators share.

Equations A1 to A12 of docs/methods/adaboost.md. `loop` runs the rounds; `weights` are those of rows, with
the draws by them; `judging` turns a member's errors into its say and into new weights
(core/boosting/adaboost); `following` adds the members up for training errors and early stopping; `medians`
is what the regressor predicts; `stumps` searches without sorting (A11); `records` is handed around, `table`
is what users read.
"""
