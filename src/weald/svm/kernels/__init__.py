"""Kernels: the functions, their sums and products, their values on tables, texts as rows.

docs/methods/kernels.md. `functions` and `sums` are the kernels, on `base`; `choice` finds one by name,
`gamma` its numbers, `json` one in a file. `gram` has values of two tables, `diagonal` of rows with
themselves, `bounds` whether they stay finite, `mercer` whether it is a kernel. Texts: `spectrum`, on
`substrings`; `text_rows` for functions.
"""
