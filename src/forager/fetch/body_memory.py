"""Limits the memory that large response bodies use at once: a connection over the limit is paused, so the rest of its
body waits in the network. Small bodies are never paused.

Without the limit, a few hundred servers that send ten megabytes each at the same moment would fill the memory. A body
counts while it is received and, once it is complete, until its last reference is released.
"""

from typing import Protocol

FREE_BYTES = 64 * 1024
"""Bodies up to this size are not counted."""
MOST_BYTES = 32 * 1024 * 1024


class Waits(Protocol):
    """A connection that can be paused."""

    def pause(self) -> None: ...
    def go_on(self) -> None: ...


class MemoryBudget:
    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._coming: dict[Waits, int] = {}
        """Bytes received so far per connection; the body that started first comes first."""
        self._kept_bytes = 0
        """Bytes of complete bodies that are still in use."""
        self._held_bytes = 0
        self._paused: set[Waits] = set()

    def update_size(self, connection: Waits, size: int) -> None:
        """Records the number of bytes received so far; pauses the connection when the total exceeds the limit."""
        self._held_bytes += size - self._coming.get(connection, 0)
        self._coming[connection] = size
        if not self._can_continue(connection):
            self._paused.add(connection)
            connection.pause()

    def end(self, connection: Waits) -> None:
        """Marks the body of this connection as finished."""
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
        """Returns whether this connection may continue. While no complete body is in use, nothing would ever be
        freed, so the first connection continues."""
        if self._held_bytes <= self._most_bytes:
            return True
        return not self._kept_bytes and connection is next(iter(self._coming))

    def _resume_waiting(self) -> None:
        for connection in [waiting for waiting in self._coming if waiting in self._paused]:
            if not self._can_continue(connection):
                return
            self._paused.discard(connection)
            connection.go_on()
