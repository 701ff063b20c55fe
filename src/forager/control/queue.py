"""What an operator may do to the queues: look, read dead letters, send them once more, empty queues.

The broker is handed in. Emptying loses nothing: what was on its way is offered anew.
"""

from collections.abc import Sequence
from typing import Any

from forager.errors import NotFoundError
from forager.queue import store
from forager.queue.broker import Broker, DeadLetter


async def list_queues(conn: Any, broker: Broker) -> list[dict[str, Any]]:
    """Every queue with what it holds and how many listen, as the broker says now."""
    depths = await broker.look(await queue_names(conn, broker))
    return [{"queue": name, **depth._asdict()} for name, depth in depths.items()]


async def queue_names(conn: Any, broker: Broker) -> list[str]:
    """Those of hints: of the run that never ends, and of every run that is under way."""
    runs = [run.id for run in await store.runs_to_serve(conn) if not run.is_standing]
    names = [*broker.names.of_run(None), *(name for run in runs for name in broker.names.of_run(run))]
    return list(dict.fromkeys(names))


async def redrive(broker: Broker, ids: Sequence[str] | None) -> list[DeadLetter]:
    """Dead letters back into the queues they were refused in; None: all. Refuses ids that there are not."""
    if ids is not None:
        known = {letter.id for letter in await broker.dead_letters(MOST_DEAD)}
        if missing := [each for each in ids if each not in known]:
            raise NotFoundError(f"There is no dead letter {missing[0]}; `forager queue dead` lists them.")
    return await broker.redrive(ids)


MOST_DEAD = 10_000
"""That are looked through for one."""


async def purge(conn: Any, broker: Broker, *, only_dead: bool) -> dict[str, int]:
    """Empties the queues of hints, or only that of dead letters; answers how many messages each had."""
    if only_dead:
        return await broker.purge([broker.names.dead])
    emptied = await broker.purge(await queue_names(conn, broker))
    await store.forget_offers(conn)
    return emptied
