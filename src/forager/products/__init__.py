"""Products and the history of their prices: what the pages said, kept only when it changed."""
