"""Pauses of a worker for faults of its own: while one is in force, the requests it affects do not start.

A fault of ours (no parser process, no space for bodies, no network, no database) must not close a task or count against
a site. The component that detects the fault begins a pause with a reason and ends it when the fault is gone; the
dispatcher checks before each start, and the heartbeat reports the pause to `forager workers`, `/health`, alerts and
`why`.
"""

from collections.abc import Callable

from forager import clock
from forager.engine.models import Pause, PauseReason, describe_pause
from forager.logs import log


class Pauses:
    def __init__(self) -> None:
        self._open: dict[tuple[PauseReason, str], Pause] = {}
        """Pauses by reason and by the component that detected the fault: a reason ends when every such component has
        ended it."""
        self._listeners: list[Callable[[], None]] = []

    def on_change(self, listener: Callable[[], None]) -> None:
        """Registers `listener`, called whenever a pause begins or ends."""
        self._listeners.append(listener)

    @property
    def current(self) -> Pause | None:
        """Returns the pause in force that began first."""
        return next(iter(self._open.values()), None)

    @property
    def is_paused(self) -> bool:
        return bool(self._open)

    @property
    def stops_all(self) -> bool:
        """Returns whether no request at all may start."""
        return any(reason is not PauseReason.STORE_UNAVAILABLE for reason, _ in self._open)

    def stops(self, *, stores_bodies: bool) -> bool:
        """Returns whether requests of a domain must not start; a domain that stores nothing needs no body store."""
        return self.stops_all or (stores_bodies and bool(self._open))

    def begin(self, reason: PauseReason, detail: str, *, owner: str = "") -> None:
        """Pauses for `reason`, until the same owner ends it; a pause in force gets the newest detail."""
        before = self._open.get((reason, owner))
        if before is not None and before.detail == detail:
            return
        self._open[reason, owner] = Pause(reason, detail, before.since if before else clock.monotonic())
        if before is None:
            says = describe_pause(reason, detail)
            log().error(f"paused: {says}", action="worker.paused", reason=reason.value, detail=detail)
        self._tell()

    def end(self, reason: PauseReason, *, owner: str = "") -> None:
        """Ends the pause that this owner began for `reason`, if there is one."""
        pause = self._open.pop((reason, owner), None)
        if pause is not None:
            paused_s = round(clock.monotonic() - pause.since, 1)
            log().warning("resumed", action="worker.resumed", reason=reason.value, paused_s=paused_s)
            self._tell()

    def _tell(self) -> None:
        for listener in self._listeners:
            listener()
