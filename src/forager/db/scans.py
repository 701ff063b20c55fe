"""Limits of lists whose filters no index serves: rows are read in portions, so that no request walks a table."""

from datetime import timedelta

SCANNED = 10_000
"""Rows that are read at once."""
LONGEST_S = 1.0
"""Time after which a page of a list over HTTP reads no further portion. Its `next` continues from there."""
SMALL_TABLE = 100_000
"""Ids up to which a time needs no bisection of the primary key."""
LONGEST_TRANSACTION = timedelta(hours=1)
"""Ids and times of creation disagree by at most that much."""
