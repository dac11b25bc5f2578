"""Row stores: where the coded rows of a fit live. Today in memory."""
