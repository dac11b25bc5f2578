"""Rows on disk: a store of pages, made in two reads of the data, and its reader.

`learning` finds the codebook that memory would find, `building` codes the rows into pages, `store` reads them
again, one page ahead of who asks. The format is docs/methods/pages.md.
"""

from weald.rows.paged.building import BuildOptions, build, store_of
from weald.rows.paged.scans import store_of_scan
from weald.rows.paged.store import Page, Store, open_store

__all__ = ["BuildOptions", "Page", "Store", "build", "open_store", "store_of", "store_of_scan"]
