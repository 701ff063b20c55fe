"""Keeps cancellations from being lost: retry loops check here, after an error, whether their task was cancelled."""

import asyncio


def give_up_if_cancelled() -> None:
    """Raises the cancellation again if an error replaced it. A task that is cancelled within a transaction rolls back
    on the way out; if the connection is lost, the rollback raises its own error instead of the cancellation."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
