"""Random forests and extra trees: fit, out-of-bag answers, proximity, uncertainty.

`tasks` is what differs between labels and numbers; `trees` gives single trees and the rows each saw. What
users ask of a fitted forest: `insight` (votes, strength, importances), `proximity`, `uncertainty`, each on
the package of `weald` that does the work.
"""
