"""Shares state between processes through Redis: known URLs, request counts, live statistics, verified sessions.

PostgreSQL stays authoritative, and no data is stored only here. While Redis is unavailable, every lookup returns
nothing and the caller continues with PostgreSQL and its own memory. Every key starts with the cache namespace of its
database.
"""
