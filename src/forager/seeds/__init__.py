"""Lists of seeds: from bytes to URLs, line by line. Pure: the caller opens files and the network.

`unpack` undoes gzip, `table` reads lines and CSV, `sitemap` reads sitemaps. Each yields what it finds in the order of
the list, good and bad mixed, and holds no more than one line of it.
"""
