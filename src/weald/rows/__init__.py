"""Row stores: where the coded rows of a fit live, in memory or in pages.

`memory` grows a tree or a forest in one native call, by the options of `growth`; `bags` tells the rows of
each tree again from the seed (equations F1 to F4 of docs/methods/forests.md); `many_classes` has the leaves
of trees with hundreds of classes. `paged` keeps rows in pages on disk; `blocks` grows the trees of memory
from any source of pages.
"""
