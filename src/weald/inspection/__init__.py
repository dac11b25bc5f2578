"""Looking inside a fitted model.

`votes`, `strength` and `importance` (by permuting) are out of bag: equations F-V1 to F-I3 of
docs/methods/forests.md. `proximity` and `prototypes`: P1 to P5 (core/inspection). `shap` has SHAP values and
`dependence` curves (core/explain); `trace` tells a fit again in plain NumPy; `groups` reads groups of
columns.
All take forests and tables; `weald.insight` asks estimators for these.
"""
