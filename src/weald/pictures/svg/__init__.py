"""Charts as SVG of our own: a module for each kind, for reports and notebooks.

`markup` writes tags and escapes what stands in them, `scales` chooses ticks and writes numbers, `plot` is
what charts have in common. Colours are classes, which the style of the page gives a light and a dark value.
"""
