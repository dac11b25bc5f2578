"""Everything that shows one tree: drawings, text, data frames, HTML, the way of one row in words.

`nodes` has `ShownTree`, which all of these read, `boxes` the text of a node. A drawing: `fitting` finds
font and line breaks, `layout` the places, `colours` the fill, `canvas` alone knows matplotlib. `margin`
draws machines, over the grid of `plane`, with the lines of `slack`, on the axes of `margin_axes`.
"""
