"""How much of large bodies is held at once: what has no room waits in the network. Small bodies never wait.

Without it a few hundred servers that send ten megabytes each, all at one moment, would fill the memory. A body counts
while it comes and, when it is whole, until nobody has it any more.
"""

from typing import Protocol

FREE_BYTES = 64 * 1024
"""Bodies that are no larger are not counted."""
MOST_BYTES = 32 * 1024 * 1024


class Waits(Protocol):
    """A connection, as far as it can be kept waiting."""

    def pause(self) -> None: ...
    def go_on(self) -> None: ...


class MemoryBudget:
    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._coming: dict[Waits, int] = {}
        """Bytes so far, of the body that came first first."""
        self._kept_bytes = 0
        """Of whole bodies somebody works with."""
        self._held_bytes = 0
        self._paused: set[Waits] = set()

    def update_size(self, connection: Waits, size: int) -> None:
        """Its body has so many bytes by now; pauses it when that is too much for all."""
        self._held_bytes += size - self._coming.get(connection, 0)
        self._coming[connection] = size
        if not self._can_continue(connection):
            self._paused.add(connection)
            connection.pause()

    def end(self, connection: Waits) -> None:
        """Nothing more comes for it."""
        if connection in self._coming:
            self._held_bytes -= self._coming.pop(connection)
            self._paused.discard(connection)
            self._resume_waiting()

    def keep(self, size: int) -> None:
        self._kept_bytes += size
        self._held_bytes += size

    def free(self, size: int) -> None:
        self._kept_bytes -= size
        self._held_bytes -= size
        self._resume_waiting()

    def _can_continue(self, connection: Waits) -> bool:
        """While nobody works with a whole body, nothing would ever be freed: then the first one goes on."""
        if self._held_bytes <= self._most_bytes:
            return True
        return not self._kept_bytes and connection is next(iter(self._coming))

    def _resume_waiting(self) -> None:
        for connection in [waiting for waiting in self._coming if waiting in self._paused]:
            if not self._can_continue(connection):
                return
            self._paused.discard(connection)
            connection.go_on()
