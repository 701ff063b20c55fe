"""Replays one stored page in a separate process: its content may be hostile, and must not block the caller."""

import asyncio
import json
import os
from functools import partial
from typing import TYPE_CHECKING, Any

from forager.config.loader import to_environment
from forager.engine.transaction_retry import in_transaction
from forager.errors import ForagerError
from forager.interpreter import python_module
from forager.replay.service import of_task

if TYPE_CHECKING:
    from forager.instance import Forager

LONGEST_S = 60.0
PATIENCE_S = 10.0


async def replay_task(forager: "Forager", task: int) -> dict[str, Any]:
    """Returns what `forager replay --task` reports. Rejects an unknown task, and one without a stored body."""
    settings = forager.settings
    check = partial(of_task, task=task, default_policy=settings.storage.content_policy)
    await in_transaction(forager.database, check, give_up_after_s=PATIENCE_S)
    command = python_module("forager", "replay", "--task", str(task), "--json", "--unnoted")
    environ = os.environ | to_environment(settings)
    process = await asyncio.create_subprocess_exec(
        *command, env=environ, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(LONGEST_S):
            told, trouble = await process.communicate()
    except TimeoutError:
        raise ForagerError(f"Reading task {task} again took longer than {LONGEST_S:.0f} s.") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        sentence = trouble.decode(errors="replace").strip().rpartition("\n")[2].removeprefix("forager: ")
        raise ForagerError(f"Task {task} could not be read again: {sentence}")
    document: dict[str, Any] = json.loads(told)
    return document
