"""What every periodic job has: a name, an interval or a time of day, a loop, and `run`."""

import abc
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from forager.config.settings import Settings
from forager.db.types import Connection
from forager.instance import Forager
from forager.scheduler.times import ANY_TIME, TimeOfDay

if TYPE_CHECKING:
    from forager.dispatch.broker import Broker

ACTOR = "schedule"
"""The actor that histories name for changes made by jobs."""


class Loop(StrEnum):
    """Jobs of one loop run one after the other; the loops run at the same time, so that no alert waits for a backup."""

    QUICK = "quick"
    SLOW = "slow"
    """May take minutes: the work grows with what was crawled."""
    NIGHTLY = "nightly"
    """May take hours."""
    PLUGINS = "plugins"
    """Jobs of plug-ins: nothing is known about how long they take."""
    MODEL = "model"
    """Requests to a model, each of which may take minutes."""
    DISPATCH = "dispatch"
    """Workers wait for its messages."""


@dataclass(frozen=True, slots=True)
class JobContext:
    """What a job gets for one run."""

    forager: Forager
    connection: Connection
    """Of this job alone while it runs; it opens as many short transactions as it needs."""
    broker: "Broker | None" = None
    """None: workers claim from the database."""
    job_names: tuple[str, ...] = ()
    """The jobs enabled in this instance."""

    @property
    def settings(self) -> Settings:
        return self.forager.settings


class Job(abc.ABC):
    """Periodic work. Running it twice does no harm."""

    name: str
    interval_s: float
    loop: Loop = Loop.QUICK

    def time_of_day(self, settings: Settings) -> TimeOfDay:  # noqa: ARG002
        """When it runs, for a job that has a time of day in the settings instead of an interval."""
        return ANY_TIME

    def is_enabled(self, settings: Settings) -> bool:  # noqa: ARG002
        """Whether an instance with these settings has this job."""
        return True

    @abc.abstractmethod
    async def run(self, context: JobContext) -> str:
        """Does the work and returns a short summary for people."""
