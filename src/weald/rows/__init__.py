"""Row stores: where the coded rows of a fit live. Today in memory.

`memory` grows a tree or a forest in one native call, by the options of `growth`; `bags` tells the rows of
each tree again from the seed (equations F1 to F4 of docs/methods/forests.md); `many_classes` has the leaves
of trees with hundreds of classes.
"""
