"""A cancel that must not get lost: whoever tries again after an error asks here first whether it is still wanted."""

import asyncio


def give_up_if_cancelled() -> None:
    """Raise the cancel again that an error took the place of. Who is cancelled within a transaction rolls back on the
    way out, and where the connection is gone, what comes out of it is that, and not the cancel."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
