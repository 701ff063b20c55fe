"""What processes may tell each other through Redis: pages that are known, requests that were counted, live numbers,
that a session was looked up.

Nothing here is the truth, and nothing is ever only here. Whoever asks is answered "nothing" while Redis is away, and
goes on with PostgreSQL and its own memory. Every name holds the era of the database it speaks of.
"""

from forager.shared_cache.counts import RedisCounts
from forager.shared_cache.era import Era
from forager.shared_cache.known import RedisKnown
from forager.shared_cache.latest import RedisLatest
from forager.shared_cache.server import AwayError, Server, open_server
from forager.shared_cache.vouching import RedisVouching

__all__ = ["AwayError", "Era", "RedisCounts", "RedisKnown", "RedisLatest", "RedisVouching", "Server", "open_server"]
