"""What a page costs, as it was measured: the one place where `forager sim scale` has its numbers from.

On two virtual cores; where a span was measured, the dear end of it. `python -m bench` measures most of it anew; what a
batch asks of the database is counted by a test.
"""

WORKER_MS = 1.4
"""CPU of a worker and its reader. `python -m bench compare`: 1.2 to 1.4 ms for 47 KB of HTML with 60 links, with inner
loops in C."""
POSTGRES_MS = 0.4
"""CPU of PostgreSQL. The same: 0.3 to 0.4 ms."""
WORKER_PAGES_PER_S = 890.0
"""What one worker can do at most. The same: 890 to 1,080 on two cores that PostgreSQL and the web share."""

BATCH_STATEMENTS = 24
"""Statements to learn from and record a batch of pages, however many they are; that for words nobody has met, BEGIN,
COMMIT and the reset of a connection that is handed back among them. Counted by
`tests/integration/scale/test_load.py`."""
ROUND_STATEMENTS = 9
"""To look for domains and to feed queues, after each batch. Counted there."""
TURN_STATEMENTS = 6
"""To hand a domain back, when it comes alone; many at once cost no more. Counted there."""
SECOND_STATEMENTS = 6
"""What a worker asks in any second: whether somebody wants something of it. Counted there."""
ROWS = 12.1
"""Rows written, a page. `python -m bench workers --quick`: 200 pages of 60 links, all new."""
WAL_BYTES = 15_000
"""Write-ahead log, a page. The same; 3,400 for small pages that bring few links."""

PAGE_BYTES = 8_600
"""Tables and indexes, a page with its links, signals and search index. `docs/explanation/sizing.md`: 4,000 pages."""
VISIT_BYTES = 370
"""A further visit of a known page. The same."""
WORKER_MB = 283.0
"""Resident, a worker with its reader after 20,000 pages. The same."""
WORKER_CONNECTIONS = 4
"""At most; `pg_stat_activity`."""
WIRE_BYTES = 14_000
"""What comes over the wire for a page, gzip. The bench web."""
