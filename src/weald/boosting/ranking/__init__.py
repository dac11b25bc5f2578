"""Learning to rank: queries, relevances and the objectives on them.

Equations R1 to R15 of docs/methods/ranking.md; the work is done in core/boosting/ranking. `groups` makes
queries of `qid`.
"""
