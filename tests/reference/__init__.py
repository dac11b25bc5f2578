"""The readable specification of weald's trees: slow twins in NumPy and plain Python, from the definitions.

Nothing here is shared with the engine except the rules. Read `fixed_point`, `statistics`, `splits` and `tree`
in that order; each is one idea.
"""
