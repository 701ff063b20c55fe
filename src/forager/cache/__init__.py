"""What processes may tell each other through Redis: pages that are known, requests that were counted, live numbers,
that a session was looked up.

Nothing here is the truth, and nothing is ever only here. Whoever asks is answered "nothing" while Redis is away, and
goes on with PostgreSQL and its own memory. Every name holds the era of the database it speaks of.
"""
