"""What processes may tell each other through Redis: pages that are known, requests that were counted, live numbers,
that a session was looked up.

Nothing here is the truth, and nothing is ever only here. Whoever asks is answered "nothing" while Redis is away, and
goes on with PostgreSQL and its own memory. Every name holds the era of the database it speaks of.
"""

from forager.cache.counts import RedisCounts
from forager.cache.era import Era
from forager.cache.known import RedisKnown
from forager.cache.latest import RedisLatest
from forager.cache.server import AwayError, Server, open_server
from forager.cache.vouching import RedisSessionCache

__all__ = ["AwayError", "Era", "RedisCounts", "RedisKnown", "RedisLatest", "RedisSessionCache", "Server", "open_server"]
