"""Drawings of how predictions depend on columns.

`lines` draws one column, `surface` two, `matrix` interactions; `panels` finds the axes. matplotlib is
imported when something is drawn.
"""
