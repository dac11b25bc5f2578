"""Nearest rows as estimators: `KNeighborsClassifier` and `KNeighborsRegressor`."""
