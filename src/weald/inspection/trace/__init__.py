"""A fit told again from its rows: sums, candidates, gains and values of every node, held against the model.

`judges` scores sums, `statistics` adds rows up, `ordered` and `categories` propose the candidates of a column, `draws`
repeats what chance decided, `growth` puts a tree together, and `compare` holds it against the fitted one. Everything
is plain NumPy and Python integers, written from docs/methods and not from the core.
"""
