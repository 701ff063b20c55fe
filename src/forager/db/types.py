"""Type aliases of driver objects for signatures: a connection (single or pooled), a pool, a row."""

from typing import TYPE_CHECKING, TypeAlias

import asyncpg
from asyncpg.pool import PoolConnectionProxy

Row: TypeAlias = asyncpg.Record
if TYPE_CHECKING:
    Connection: TypeAlias = asyncpg.Connection[Row] | PoolConnectionProxy[Row]
    Pool: TypeAlias = asyncpg.Pool[Row]
else:  # the driver's classes take no parameters at run time
    Connection: TypeAlias = asyncpg.Connection | PoolConnectionProxy
    Pool: TypeAlias = asyncpg.Pool
Executor: TypeAlias = Connection | Pool
"""Runs a single statement: a pool uses any of its connections for it."""
