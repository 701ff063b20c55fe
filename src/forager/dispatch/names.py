"""What the queues are called. A prefix keeps instances on one broker apart.

The run that never ends has the three names of the requirements. Any other run has queues of its own behind its
number, since only its own workers may claim its domains; nobody's any more, they vanish after an hour.
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
        """Celery binds every queue to one; hints are sent to their queues directly."""
        return self.prefix + "hints"

    @property
    def dead(self) -> str:
        """The queue of dead letters, and the exchange that leads to it."""
        return self.prefix + DEAD

    def crawl(self, run: int | None, *, is_urgent: bool) -> str:
        """Of a run by its number; None: of the one that never ends."""
        name = self.prefix + (PRIORITY if is_urgent else CRAWL)
        return name if run is None else f"{name}.{run}"

    def of_run(self, run: int | None) -> tuple[str, ...]:
        """What a worker of it listens to, the urgent first. Stored bodies are read by workers that stay."""
        both = self.crawl(run, is_urgent=True), self.crawl(run, is_urgent=False)
        return (*both, self.parse) if run is None else both

    def kind(self, queue: str) -> str:
        """Which of the four it is, whatever its run."""
        return queue.removeprefix(self.prefix).partition(".")[0]

    def are_hints(self, queue: object) -> bool:
        """Whether it is a name of ours that hints are sent to. Where it comes from strangers, it may be anything."""
        if not isinstance(queue, str) or not queue.startswith(self.prefix):
            return False
        return HINTS.fullmatch(queue.removeprefix(self.prefix)) is not None
