"""What would change a prediction, and which known rows are like the one that is asked about."""
