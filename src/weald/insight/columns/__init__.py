"""How much columns matter to a model, and which of them it can do without."""
