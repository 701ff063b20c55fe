"""What an operator may do to the queues: look, read dead letters, send them once more, empty queues.

The broker is handed in; None: there is none, and no queues. Emptying loses nothing: what was on its way is offered
anew.
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
"""That are looked through for one."""


@dataclass(frozen=True, slots=True)
class QueueStatus:
    mode: str
    is_reachable: bool | None
    """None: there is no broker to be reached."""
    message: str | None
    """Why nothing is known of queues."""
    queues: Sequence[dict[str, Any]] = ()
    dead_letters: int | None = None


async def describe(broker: Broker | None, names: Sequence[str]) -> QueueStatus:
    """How it stands with them, whatever is away; `names` as `queue_names` has them."""
    if broker is None:
        return QueueStatus("inline", None, NO_QUEUES)
    try:
        rows = await look(broker, names)
    except BrokerUnavailableError as error:
        return QueueStatus("celery", False, str(error))
    (dead,) = (row["messages"] for row in rows if row["queue"] == broker.names.dead)
    return QueueStatus("celery", True, None, rows, dead)


async def look(broker: Broker, names: Sequence[str]) -> list[dict[str, Any]]:
    """Each of them and the dead letters, with what it holds and how many listen, as the broker says now."""
    depths = await broker.look(names)
    return [{"queue": name, "kind": broker.names.kind(name), **depth._asdict()} for name, depth in depths.items()]


async def list_queues(conn: Connection, broker: Broker) -> list[dict[str, Any]]:
    return await look(broker, await queue_names(conn, broker))


async def queue_names(conn: Connection, broker: Broker) -> list[str]:
    """Those of hints: of the run that never ends, and of every run that is under way."""
    runs = [run.id for run in await store.runs_to_serve(conn) if not run.is_standing]
    names = [*broker.names.of_run(None), *(name for run in runs for name in broker.names.of_run(run))]
    return list(dict.fromkeys(names))


async def list_dead(broker: Broker, *, after: int | None, limit: int) -> list[dict[str, Any]]:
    """So many behind a place in the queue; they stay where they are. New ones come last and move nothing; those that
    are taken out meanwhile make room, and others move up."""
    behind = min(max(after or 0, 0), MOST_DEAD)
    found = await broker.dead_letters(behind + limit)
    return [{**asdict(letter), "place": place} for place, letter in enumerate(found, 1)][behind:]


@dataclass(frozen=True, slots=True)
class RedriveResult:
    count: int
    """Of a dry run, how many would be sent; of all of them, also those that say not where they were refused."""
    is_dry: bool


async def redrive(broker: Broker, ids: Sequence[str] | None, *, dry_run: bool = False) -> RedriveResult:
    """Dead letters back into the queues they were refused in; None: all. Refuses ids that there are not."""
    homes = {} if ids is None else await _find_queues(broker, ids)
    if not dry_run:
        return RedriveResult(len(await broker.redrive(ids)), is_dry=False)
    if ids is None:
        return RedriveResult((await broker.look([]))[broker.names.dead].messages, is_dry=True)
    return RedriveResult(sum(queue is not None for queue in homes.values()), is_dry=True)


async def _find_queues(broker: Broker, ids: Sequence[str]) -> dict[str, str | None]:
    """Each of them with the queue it was refused in; None: it does not say."""
    known = {letter.id: letter.queue for letter in await broker.dead_letters(MOST_DEAD)}
    if missing := [each for each in ids if each not in known]:
        raise NotFoundError(f"There is no dead letter {missing[0]}; `forager queue dead` lists them.")
    return {each: known[each] for each in ids}


async def purge(conn: Connection, broker: Broker, *, only_dead: bool, is_trial: bool = False) -> dict[str, int]:
    """Empties the queues of hints, or only that of dead letters; answers how many messages each had."""
    names = [broker.names.dead] if only_dead else await queue_names(conn, broker)
    if is_trial:
        depths = await broker.look(names)
        return {name: depths[name].messages for name in names}
    emptied = await broker.purge(names)
    if not only_dead:
        await store.delete_all_offers(conn)
    return emptied
