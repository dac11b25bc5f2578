"""Pictures of how much columns matter, and of their selection."""
