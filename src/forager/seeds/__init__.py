"""Parses seed lists: bytes to URLs, line by line. Pure: the caller opens files and connections.

`unpack` decompresses gzip, `table` reads lines and CSV, `sitemap` reads sitemaps. Each yields valid and invalid entries
in list order, and holds at most one line in memory.
"""
