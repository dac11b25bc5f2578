"""Everything that is looked at: trees as drawings, text, frames and HTML, the way of one row, all pictures.

`nodes` has `ShownTree`, which all of these read, `boxes` the text of a node. A drawing: `fitting` finds
font and line breaks, `layout` the places, `colours` the fill, `canvas` alone knows matplotlib. `margin`
draws machines, over the grid of `plane`, with the lines of `slack`, on the axes of `margin_axes`.
`ensembles` chooses trees and tells ensembles; `curves` draws fits, `columns` importance and selection;
`dependence`, `explanations` and `trace` show what their names say, `bands` curves of scores.
"""
