"""What a fitted tree model is, and everything that reads it: predictions, text, scikit-learn's view."""
