"""`SVC` and `SVR`: machines by kernels."""
