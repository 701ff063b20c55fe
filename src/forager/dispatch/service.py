"""Operator actions on the queues: show depths, list dead letters, redrive them, purge queues.

The caller passes the broker; None: there is none, and no queues. A purge loses nothing: purged domains are offered
again.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from forager.db.types import Connection
from forager.dispatch import store
from forager.dispatch.broker import Broker
from forager.dispatch.errors import BrokerUnavailableError
from forager.errors import NotFoundError

NO_QUEUES = "There are no queues: workers ask the database. The setting queue = celery makes some."
MOST_DEAD = 10_000
"""Maximum number of dead letters searched for an id."""


@dataclass(frozen=True, slots=True)
class QueueStatus:
    mode: str
    is_reachable: bool | None
    """None: no broker is configured."""
    message: str | None
    """Why the state of the queues is unknown."""
    queues: Sequence[dict[str, Any]] = ()
    dead_letters: int | None = None


async def describe(broker: Broker | None, names: Sequence[str]) -> QueueStatus:
    """Returns the state of the queues, also when the broker is unavailable; `names` come from `queue_names`."""
    if broker is None:
        return QueueStatus("inline", None, NO_QUEUES)
    try:
        rows = await look(broker, names)
    except BrokerUnavailableError as error:
        return QueueStatus("celery", False, str(error))
    (dead,) = (row["messages"] for row in rows if row["queue"] == broker.names.dead)
    return QueueStatus("celery", True, None, rows, dead)


async def look(broker: Broker, names: Sequence[str]) -> list[dict[str, Any]]:
    """Returns each queue and the dead letter queue with the current number of messages and consumers."""
    depths = await broker.look(names)
    return [{"queue": name, "kind": broker.names.kind(name), **depth._asdict()} for name, depth in depths.items()]


async def list_queues(conn: Connection, broker: Broker) -> list[dict[str, Any]]:
    return await look(broker, await queue_names(conn, broker))


async def queue_names(conn: Connection, broker: Broker) -> list[str]:
    """Returns the names of the hint queues: of the continuous run, and of every running run."""
    runs = [run.id for run in await store.runs_to_serve(conn) if not run.is_standing]
    names = [*broker.names.of_run(None), *(name for run in runs for name in broker.names.of_run(run))]
    return list(dict.fromkeys(names))


async def list_dead(broker: Broker, *, after: int | None, limit: int) -> list[dict[str, Any]]:
    """Returns up to `limit` dead letters after a position, without removing them. New letters are appended and move
    nothing; letters removed meanwhile move later ones up."""
    behind = min(max(after or 0, 0), MOST_DEAD)
    found = await broker.dead_letters(behind + limit)
    return [{**asdict(letter), "place": place} for place, letter in enumerate(found, 1)][behind:]


@dataclass(frozen=True, slots=True)
class RedriveResult:
    count: int
    """For a dry run, how many would be sent; for all letters, this includes those that do not record their queue."""
    is_dry: bool


async def redrive(broker: Broker, ids: Sequence[str] | None, *, dry_run: bool = False) -> RedriveResult:
    """Moves dead letters back to the queues that rejected them; None: all. Raises NotFoundError for unknown ids."""
    homes = {} if ids is None else await _find_queues(broker, ids)
    if not dry_run:
        return RedriveResult(len(await broker.redrive(ids)), is_dry=False)
    if ids is None:
        return RedriveResult((await broker.look([]))[broker.names.dead].messages, is_dry=True)
    return RedriveResult(sum(queue is not None for queue in homes.values()), is_dry=True)


async def _find_queues(broker: Broker, ids: Sequence[str]) -> dict[str, str | None]:
    """Returns the queue that rejected each letter; None: it is not recorded."""
    known = {letter.id: letter.queue for letter in await broker.dead_letters(MOST_DEAD)}
    if missing := [each for each in ids if each not in known]:
        raise NotFoundError(f"There is no dead letter {missing[0]}; `forager queue dead` lists them.")
    return {each: known[each] for each in ids}


async def purge(conn: Connection, broker: Broker, *, only_dead: bool, is_trial: bool = False) -> dict[str, int]:
    """Empties the hint queues, or only the dead letter queue; returns how many messages each had."""
    names = [broker.names.dead] if only_dead else await queue_names(conn, broker)
    if is_trial:
        depths = await broker.look(names)
        return {name: depths[name].messages for name in names}
    emptied = await broker.purge(names)
    if not only_dead:
        await store.delete_all_offers(conn)
    return emptied
