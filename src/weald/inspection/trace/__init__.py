"""A fit told again from its rows: sums, candidates, gains and values of every node, held against the model.

`targets` and `gradients` make the integers of the rows, `judges` scores sums of them, `ordered`,
`categories` and `cautious` propose the candidates of a column, `rules` repeats what chance decided, `search`
finds the winner, `growth` puts a tree together, and `compare` holds it against the fitted one. All of it is
plain NumPy and Python integers, written from docs/methods: it shares no code with the core that grew trees.
"""
