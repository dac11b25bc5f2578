"""Losses, say against error, similarity, learning curves, rounds of AdaBoost, resamples, kernel maps."""
