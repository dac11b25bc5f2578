"""Newton boosting, as xgboost has it: objectives, the step of a round, its rows."""
