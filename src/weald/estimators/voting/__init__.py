"""Voting: different estimators on the same rows, counted or averaged."""
