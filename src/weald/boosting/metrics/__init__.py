"""How good predictions are: metrics by name, areas under curves, orders of rows."""
