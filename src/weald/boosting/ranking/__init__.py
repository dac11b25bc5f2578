"""Learning to rank: queries, relevances and the objectives on them."""
