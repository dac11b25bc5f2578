"""Support vector machines: kernels, problems and their solvers, apart from the estimators."""
