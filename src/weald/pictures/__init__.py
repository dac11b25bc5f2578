"""Everything that shows one tree: drawings, text, data frames, HTML, the way of one row in words."""
