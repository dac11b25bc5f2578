"""How good predictions are: metrics by name, areas under curves, orders of rows.

`names` turns what users write ("error@0.7") into metrics; the values are in `pointwise`, `areas` and
`ranking`; `custom` takes users' functions.
"""
