"""The kinds of tables that users have: reading each of them, and writing into them.

`from_*` read one kind each, `forms` what stands for another table (lazy frames, records, one row).
`user_rows` takes rows of the user's own type, for estimators that are not weald's. `write` and
`write_arrow` put values into a user's own table, whose kind and types stay.
"""
