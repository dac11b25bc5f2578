"""What a fitted forest tells of its rows and columns."""
