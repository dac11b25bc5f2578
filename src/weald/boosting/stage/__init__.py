"""Stagewise boosting, as Friedman has it: losses, leaf values, the step of a round, its rows.

Equations S0 to S16 of docs/methods/gradient_boosting.md. `losses` (core/boosting/stage), users' own in
`custom`; `step` is a round, `tree_step` one by trees, whose leaves `leaf_rules` values and `monotone` keeps
in order; `line_search` is for steps without a formula; `rows` are those in memory; `watch` happens around a
round, `table` is what `verbose` prints.
"""
