"""Names of the queues. A prefix separates instances that share a broker.

The continuous run uses three fixed names. Any other run has its own queues with its number as a suffix, since only its
own workers may claim its domains; unused, they expire after an hour.
"""

import re
from dataclasses import dataclass

PRIORITY, CRAWL, PARSE, DEAD = "priority_queue", "crawl_queue", "parse_queue", "dead_letters"
KINDS = (PRIORITY, CRAWL, PARSE, DEAD)
HINTS = re.compile(rf"{PARSE}|({PRIORITY}|{CRAWL})(\.[0-9]{{1,19}})?")
UNUSED_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class Names:
    prefix: str = ""

    @property
    def parse(self) -> str:
        return self.prefix + PARSE

    @property
    def exchange(self) -> str:
        """Returns the exchange. Celery binds every queue to one; hints are sent to their queues directly."""
        return self.prefix + "hints"

    @property
    def dead(self) -> str:
        """Returns the name of the dead letter queue, which is also the exchange that leads to it."""
        return self.prefix + DEAD

    def crawl(self, run: int | None, *, is_urgent: bool) -> str:
        """Returns the crawl queue of a run by its number; None: of the continuous run."""
        name = self.prefix + (PRIORITY if is_urgent else CRAWL)
        return name if run is None else f"{name}.{run}"

    def of_run(self, run: int | None) -> tuple[str, ...]:
        """Returns the queues a worker of this run consumes, the urgent one first. Only workers of the continuous run
        replay stored bodies."""
        both = self.crawl(run, is_urgent=True), self.crawl(run, is_urgent=False)
        return (*both, self.parse) if run is None else both

    def kind(self, queue: str) -> str:
        """Returns which of the four kinds a queue is, whatever its run."""
        return queue.removeprefix(self.prefix).partition(".")[0]

    def are_hints(self, queue: object) -> bool:
        """Returns whether this is one of our queue names for hints. The value may come from an untrusted sender and
        be anything."""
        if not isinstance(queue, str) or not queue.startswith(self.prefix):
            return False
        return HINTS.fullmatch(queue.removeprefix(self.prefix)) is not None
