"""Tables as float64 numbers, for methods that need distances.

`matrix` has `Matrix` and `MatrixPlan`, which makes it of any table; `columns` says where a column of the
table stands in it, `rows` writes blocks of rows, `statistics` finds what columns are centred and divided
by.
"""
