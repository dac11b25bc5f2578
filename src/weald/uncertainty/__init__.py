"""How sure a forest is: variances, quantiles and intervals, all from the trees it has."""
