"""What any fitted model tells of itself: functions that take an estimator and a table.

The mathematics stands in `weald.inspection`, the drawings in `weald.pictures`; here estimators of any family
are asked for what these need.
"""
