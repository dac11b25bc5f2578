"""Models on disk: one file each, written whole, read with suspicion.

docs/methods/model_file.md has the format. `model_file` saves and loads; `container` is the shell, `place`
puts it where the user wants it, `description` and `labels` hold all that is not an array, `forest_arrays`,
`structure` and `arrays` the forest, `matrices` a matrix. `parts` nests ensembles, `kinds` lists the
estimators that files know, `saved_state` is what an estimator hands over. `validate` checks that parts fit
each other; `budget`, `json_size` and `forest_size` tell the memory a file may take before it is taken.
"""
