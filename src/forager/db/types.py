"""Types of what the driver hands out, for signatures: a connection of its own or of a pool, a pool, a row."""

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
"""What runs a single statement: a pool takes any of its connections for it."""
