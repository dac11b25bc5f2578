"""Looking inside a fitted model.

`votes`, `strength` and `importance` (by permuting) are out of bag: equations F-V1 to F-I3 of
docs/methods/forests.md. `proximity` and `prototypes`: P1 to P5 (core/inspection). `shap` has SHAP values
(core/explain), `groups` reads groups of columns.
"""
