"""Alembic's door to the database: the one `forager.db.migrate` names, or that of the settings. Never autogenerates."""

import asyncio

import asyncpg
from alembic import context
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from forager.config.loader import load
from forager.db import schema
from forager.db.database import locate


async def _migrate() -> None:
    named = context.config.attributes.get("dsn")
    if named is not None:
        await _migrate_at(named)
        return
    async with locate(load()) as dsn:
        await _migrate_at(dsn)


async def _migrate_at(dsn: str) -> None:
    engine = create_async_engine(
        "postgresql+asyncpg://", async_creator=lambda: asyncpg.connect(dsn), poolclass=NullPool
    )
    try:
        async with engine.begin() as connection:
            await connection.run_sync(_run)
    finally:
        await engine.dispose()


def _run(connection: Connection) -> None:
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": schema.LOCK})
    context.configure(connection=connection)
    with context.begin_transaction():
        context.run_migrations()


asyncio.run(_migrate())
