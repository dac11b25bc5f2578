"""Fuzzers: random tables against every estimator, and spoilt model files against the reader."""
