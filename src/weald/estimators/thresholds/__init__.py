"""Where a probability becomes a decision: thresholds by a metric or by costs, from rows that were held out.

The equations are in docs/methods/balanced_ensembles.md, section 3.
"""
