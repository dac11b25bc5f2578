"""What each column adds to a prediction: `explain` and its `Explanation`."""
