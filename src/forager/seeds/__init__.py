"""Lists of seeds: from bytes to URLs, line by line. Pure: the caller opens files and the network.

`unpack` undoes gzip, `table` reads lines and CSV, `sitemap` reads sitemaps. Each yields what it finds in the order of
the list, good and bad mixed, and holds no more than one line of it.
"""

from forager.seeds.found import BadLine, Found, Nested, Seed, Tally, to_url
from forager.seeds.sitemap import read_sitemap
from forager.seeds.table import Shape, read_list
from forager.seeds.unpack import unpack

__all__ = [
    "BadLine",
    "Found",
    "Nested",
    "Seed",
    "Shape",
    "Tally",
    "read_list",
    "read_sitemap",
    "to_url",
    "unpack",
]
