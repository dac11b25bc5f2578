"""How `weald.trace` asks each family of estimators for what its trees were grown from."""
