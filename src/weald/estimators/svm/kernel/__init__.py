"""`SVC` and `SVR`: machines by kernels.

`reading` and `training` make comparable rows of tables, `work` is the solver at work, `model` what it
leaves; `readable` and `svc_margins` are what users read of it.
"""
