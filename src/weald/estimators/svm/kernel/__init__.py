"""`SVC` and `SVR`: machines by kernels.

`reading` and `training` make comparable rows of tables, `work` is the solver at work, `model` what it
leaves; `readable`, `svc_margins` and `svc_probabilities` are what users read of it.
"""
