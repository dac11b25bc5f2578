"""The bootstrap and the jackknife of any statistic.

Equations R1 to R12 of docs/methods/uncertainty.md: `samples` reads the data, `plans` says which rows a
resample may take, `statistics` has those that the core knows, `resampling` draws, `ends` makes intervals and
p-values of what was drawn; `bootstrap` and `leave_out` are what users call, `records` what they get.
"""
