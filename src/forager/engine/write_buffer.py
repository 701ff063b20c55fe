"""What a worker has fetched and not yet written: bounded, in memory.

While the database is away it fills. A request may start only if what it brings still fits, together with what all other
open requests bring; so the number of outcomes is never above the limit. Their size is known when they are there: the
limit in bytes may be passed by what was under way when it was reached.
"""

from collections.abc import Sequence

from forager.domains.store import RobotsCopy
from forager.frontier.models import Outcome

LINK_BYTES = 400
"""Of one discovered link: a tuple, its URL, its key and its anchor (measured on the playground's sites)."""
OUTCOME_BYTES = 2000


class WriteBuffer:
    def __init__(self, most_pages: int, most_bytes: int) -> None:
        self._most_pages = most_pages
        self._most_bytes = most_bytes
        self._kept = 0
        self._kept_bytes = 0
        """With what is being written: it may still fail."""
        self.outcomes: list[Outcome] = []
        self.robots: list[RobotsCopy] = []

    def __bool__(self) -> bool:
        return bool(self.outcomes or self.robots)

    @property
    def is_empty(self) -> bool:
        return not self._kept

    def has_room(self, under_way: int) -> bool:
        """Whether another request may start, besides those under way."""
        return self._kept + under_way < self._most_pages and self._kept_bytes < self._most_bytes

    def add(self, outcome: Outcome) -> None:
        self._kept += 1
        self._kept_bytes += size_of(outcome)
        self.outcomes.append(outcome)

    def add_robots(self, copy: RobotsCopy) -> None:
        self._kept += 1
        self._kept_bytes += len(copy.text or "")
        self.robots.append(copy)

    def take(self, most: int) -> tuple[list[Outcome], list[RobotsCopy]]:
        """What is to be written next; it is kept until it is written."""
        batch, self.outcomes = self.outcomes[:most], self.outcomes[most:]
        robots, self.robots = self.robots, []
        return batch, robots

    def written(self, batch: Sequence[Outcome], robots: Sequence[RobotsCopy]) -> None:
        self._kept -= len(batch) + len(robots)
        self._kept_bytes -= sum(map(size_of, batch)) + sum(len(copy.text or "") for copy in robots)


def size_of(outcome: Outcome) -> int:
    """About how much memory it takes: links are what makes it large."""
    reading = outcome.reading
    text = len(reading.text) + len(reading.headings) + len(reading.structured_data) if reading else 0
    links = len(outcome.selection.links) + (len(reading.links) if reading else 0)
    body = outcome.stored.buffer_bytes if outcome.stored else 0
    return OUTCOME_BYTES + text + LINK_BYTES * links + body
