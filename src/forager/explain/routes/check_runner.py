"""Runs a check of the promises beside the requests: whoever started it need not wait, and a proxy in front does not cut
it off. Its state is in the database, so every process of the API can tell how far it is."""

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, cast

from fastapi import FastAPI

from forager.api.database import FREE_WITHIN_S
from forager.db.pool import STATEMENT_FAILED, close_pool, open_pool
from forager.explain import check_runs as checks
from forager.explain.check import check
from forager.explain.check_runs import CountedPool, Progress
from forager.explain.service import look
from forager.logs import log

if TYPE_CHECKING:
    from forager.instance import Forager

CONNECTIONS = 2
WITHIN_S = 3 * 3600.0
INTERRUPTED = "The API process that ran it was stopped; start it again."


class Checking:
    """Of one application."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, check_id: int, *, has_files: bool, is_deep: bool = False) -> None:
        task = asyncio.create_task(self._run(check_id, has_files, is_deep))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run(self, check_id: int, has_files: bool, is_deep: bool) -> None:
        forager: Forager = self._app.state.forager
        progress = Progress()
        beating = asyncio.create_task(self._heartbeat_loop(check_id, progress))
        error: str | None = None
        result: dict[str, Any] | None = None
        try:
            async with asyncio.timeout(WITHIN_S):
                result = checks.result_of(await self._check(progress, has_files=has_files, is_deep=is_deep))
        except asyncio.CancelledError:
            error = INTERRUPTED
            raise
        except TimeoutError:
            error = f"It took longer than {WITHIN_S / 3600:.0f} hours, or the database did not answer."
        except STATEMENT_FAILED as trouble:
            error = f"The database broke it off: {trouble}"
        except Exception as trouble:
            error = "A bug of ours; the log has it."
            log().error("check failed", action="check.broken", error=repr(trouble))
        finally:
            beating.cancel()
            with contextlib.suppress(*STATEMENT_FAILED):
                async with forager.pool.acquire(timeout=FREE_WITHIN_S) as conn:
                    await checks.finish(conn, check_id, progress.done, error=error, result=result)

    async def _check(self, progress: Progress, *, has_files: bool, is_deep: bool) -> Any:
        """On connections of its own: those of the routes end what takes longer than ten seconds."""
        settings, dsn = self._app.state.settings, self._app.state.forager.database.dsn
        keeps = settings.database.prepared_statements
        pool = await open_pool(dsn, size=CONNECTIONS, application="forager check", keeps_statements=keeps)
        try:
            counted = CountedPool(pool, progress)
            if has_files or is_deep:
                return await look(cast("Any", counted), settings, deep=is_deep)
            async with counted.acquire() as conn, conn.transaction(isolation="repeatable_read", readonly=True):
                return await check(conn)
        finally:
            await close_pool(pool)

    async def _heartbeat_loop(self, check_id: int, progress: Progress) -> None:
        while True:
            await asyncio.sleep(checks.BEAT_S)
            with contextlib.suppress(*STATEMENT_FAILED):
                async with self._app.state.forager.pool.acquire(timeout=FREE_WITHIN_S) as conn:
                    await checks.update_progress(conn, check_id, progress.done)
