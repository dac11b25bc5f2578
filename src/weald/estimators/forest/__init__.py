"""Random forests and extra trees: fit, out-of-bag answers, proximity, uncertainty."""
