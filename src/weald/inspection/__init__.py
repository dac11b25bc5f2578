"""Looking inside a fitted model."""
