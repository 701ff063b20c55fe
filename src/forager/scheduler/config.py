"""What the scheduler is told: values, not the world; and the silhouette every duty has."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from forager.alerts.rules import USUAL, Disk, Limits
from forager.dispatch.message import Hint
from forager.dispatch.names import Names
from forager.dispatch.store import Depth
from forager.proxies.store import Probed, ProbeRow
from forager.scheduler.times import At
from forager.webhooks.store import DueCall, Heard

BY = "schedule"
"""Whom the history names for what duties do."""


async def skip_webhooks(_calls: Sequence[DueCall]) -> Sequence[Heard]:
    """For schedulers that have no way out."""
    return ()


async def skip_dependents(_conn: Any) -> int:
    return 0


async def skip_images() -> int:
    return 0


async def no_services(_conn: Any) -> Mapping[str, bool]:
    return {}


class Broker(Protocol):
    """Whoever carries hints to workers. Raises BrokerAwayError."""

    names: Names

    async def look(self, queues: Iterable[str]) -> dict[str, Depth]:
        """What these queues hold, and what that of dead letters does."""

    async def tell(self, told: Sequence[tuple[str, Hint]]) -> None:
        """Each hint into its queue; all have arrived when it returns."""


@dataclass(frozen=True, slots=True)
class SchedulerConfig:
    take_over: Callable[[Any], Awaitable[list[str]]]
    """Frees the domains of dead and silent workers, and answers their names."""
    is_scored: bool
    """False: domains in the order they were met."""
    is_refreshed: bool
    """False: exhausted domains wake for revisits only."""
    refresh_every_s: float
    delay_s: float
    probe: Callable[[Sequence[ProbeRow]], Awaitable[Sequence[Probed]]]
    """Tries proxies, and answers what is wrong with each."""
    body_retention_s: float
    delete_bodies: Callable[[Sequence[str]], Awaitable[list[str]]]
    """Deletes files of the store by name, and answers which are gone."""
    dead_after_s: float = 120.0
    """A worker silent for so long is not active."""
    limits: Limits = USUAL
    """What is worth an alert."""
    stall_s: float = 600.0
    """No visit that ended for so long, although work is due and workers are alive, is a stall."""
    services: Callable[[Any], Awaitable[Mapping[str, bool]]] = no_services
    """Asks Redis, broker and search server, where they are configured, whether they answer."""
    disks: Callable[[], Sequence[Disk]] = tuple
    """How much room is left where Forager keeps its files."""
    duties: Sequence[str] = ()
    """Those this Forager has; rows of others are left from an older one, and nobody does them. Empty: all."""
    times: Mapping[str, At] = field(default_factory=dict)
    """Duties that are done at a time of day."""
    move_old: Callable[[Any], Awaitable[str]] | None = None
    """Has old visits leave for cold files, and answers in words how many. None: switched off."""
    keep_minutes: Callable[[Any, int], Awaitable[int]] | None = None
    """Writes numbers by the minute, of days that ended so many days ago, to cold files. None: nobody keeps them."""
    sweep_images: Callable[[Any], Awaitable[str]] | None = None
    """Deletes files of images that are old enough or nobody's, and answers in words how many. None: switched off."""
    queue_images: Callable[[], Awaitable[int]] = skip_images
    """Has images wait for a visit that were found before they were wanted, and answers how many."""
    back_up: Callable[[], Awaitable[str]] | None = None
    """Makes a backup and removes old ones. None: switched off."""
    tend_search: Callable[[Any], Awaitable[str]] | None = None
    """Tells the search server what changed. None: PostgreSQL does the searching."""
    robots_retention_s: float = 90 * 86_400.0
    """How long a request for robots.txt stays on record."""
    moves_retention_s: float = 365 * 86_400.0
    """How long a move of a domain stays on record."""
    call_webhooks: Callable[[Sequence[DueCall]], Awaitable[Sequence[Heard]]] = skip_webhooks
    """Makes these calls, and answers how each went."""
    settle_dependents: Callable[[Any], Awaitable[int]] = skip_dependents
    """Has tasks go on that waited for others, or ends them, and answers how many."""
    broker: Broker | None = None
    """Where domains are offered. None: workers ask the database."""


class Duty(Protocol):
    """A module of this folder: something that has to be done every so often, and does no harm when done twice."""

    NAME: str
    EVERY_S: float

    async def run_once(self, conn: Any, order: SchedulerConfig) -> str:
        """On a connection of its own, in as many short transactions as it takes. Answers what was done, for people."""
