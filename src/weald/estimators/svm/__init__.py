"""Support vector machines: what kernel and linear ones share.

`targets` reads labels and numbers, `margins` are those of rows, `convergence` says what may help a machine
that did not converge. The machines themselves: `kernel`, `linear`, and `landmarks` for pipelines.
"""
