"""What processes may tell each other through Redis: pages that are known, requests that were counted, live numbers.

Nothing here is the truth, and nothing is ever only here. Whoever asks is answered "nothing" while Redis is away, and
goes on with PostgreSQL and its own memory. Every name holds the era of the database it speaks of.
"""

from forager.shared_cache.counts import RedisCounts
from forager.shared_cache.era import Era
from forager.shared_cache.known import RedisKnown
from forager.shared_cache.latest import RedisLatest
from forager.shared_cache.server import AwayError, Server, open_server

__all__ = ["AwayError", "Era", "RedisCounts", "RedisKnown", "RedisLatest", "Server", "open_server"]
