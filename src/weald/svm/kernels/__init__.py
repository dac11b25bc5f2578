"""Kernels: the functions, their sums and products, their values on tables, texts as rows."""
