"""Tables in files: which kind a file is (`kinds`), text by whole columns (`text`), all kinds (`reading`).

Everything here needs pyarrow, the extra `weald[files]`; nothing else of weald imports it.
"""
