"""Trees of rows that come in blocks: from pages on disk, or of a table in memory that is cut into such.

`source` says what a source of blocks gives, and `tree` grows a tree: a pass over all blocks for each of its
levels. What blocks give is added up as integers, so that the tree is that of the same rows in memory, to the
byte.
"""

from weald.rows.blocks.codes import PagedCodes
from weald.rows.blocks.source import MemoryPages, Page, PageSource
from weald.rows.blocks.tree import GrownOnPages, grow_on_pages

__all__ = ["GrownOnPages", "MemoryPages", "Page", "PageSource", "PagedCodes", "grow_on_pages"]
