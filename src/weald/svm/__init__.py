"""Support vector machines: kernels, problems and their solvers, apart from the estimators.

`solver_choice` decides between exact, landmarks and columns. `binary_tasks` are what single `machines`
learn; `kernel_sources` give them rows of the kernel matrix, `problem` solves the dual (core/svm/dual;
docs/methods/svm.md). `column_machines` work on columns, by `linear` (core/svm/linear) or `landmarks`
(core/svm/kernel/pivoted_root.h). `votes` make one class of pairs; `calibration` and `held_out` give
probabilities (C1 to C7 of docs/methods/svm_probabilities.md).
"""
