"""Tables, schemas, targets and codes: from what the user has to what the engine reads.

`adapters` makes a `Table` of anything, by the readers in `frames`; `schema` and `column_schema` remember it
and bring new tables into its order; `codes` makes small integers of it (core/data/encode), `matrix`
numbers. `blocks` hold many columns of one dtype, so that a hundred thousand of them cost nothing; `levels`
are those of categories, `times` dates and durations, `missing` numbers that mean missing. `target` and
`outputs` read labels, numbers and weights; `fixed_point` makes integers of weights and targets (equation 6
of docs/methods/trees.md; core/tree/statistics/quantise.h). `sketch` has weighted quantiles of streams;
`rows` takes some rows of a table; `native` hands tables to the core.
"""
