"""From a table to a model: what its columns are, which rows are kept aside, how a method is trained.

`columns` looks at the table, `task` at the target, `methods` names the estimators, `training` is one run. The
command line asks for these; so may anyone with a pyarrow table.
"""
