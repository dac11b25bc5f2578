"""AdaBoost: row weights, the judgement of a round, and the loop that both estimators share."""
