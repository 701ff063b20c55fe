"""Sessions of leased domains: cookies and logins, loaded with the claim and stored when they changed.

Stored encrypted, because a session cookie is worth as much as a password. Without a key nothing is stored, and cookies
live as long as a lease. Saved with the release, and for domains with a login with the heartbeat: a killed worker costs
one login, not one for each lease. No request writes anything.
"""

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from forager import clock
from forager.config.cipher import PasswordCipher
from forager.db.types import Connection
from forager.domains import session_store as store
from forager.domains.session_store import LoginRequestColumns, SessionColumns, StoredSession
from forager.errors import ConfigurationError
from forager.fetch.cookies import CookieJar
from forager.fetch.login import LoginConfig
from forager.logs import log


@dataclass(frozen=True, slots=True)
class LoginRequest:
    """One request of a login, for the record of all requests."""

    origin: str
    requested_at: datetime
    pace_ms: int


@dataclass(slots=True)
class DomainSession:
    """The session of one leased domain, in its worker's memory."""

    jar: CookieJar = field(default_factory=CookieJar)
    serves_https: bool = False
    logged_in_at: datetime | None = None
    login_key: str = field(default="", repr=False)
    """The login that the cookies belong to."""
    login_failures: int = 0
    is_stored: bool = False
    """A row of it exists."""
    requests: list[LoginRequest] = field(default_factory=list)
    """Requests of logins that are not recorded yet."""
    _saved: tuple[int, int, datetime | None] = (0, 0, None)

    def __post_init__(self) -> None:
        self.mark_saved()

    def is_live(self, login: LoginConfig, now: datetime) -> bool:
        """Returns whether the cookies may still be logged in; the pages will tell."""
        return self.logged_in_at is not None and self.login_key == login.key and bool(self.jar.names(now))

    def record_login(self, login: LoginConfig, now: datetime) -> None:
        self.logged_in_at, self.login_key, self.login_failures = now, login.key, 0

    def record_end(self) -> None:
        """Called when a page shows that the site ended the session."""
        self.logged_in_at = None

    def record_failure(self) -> None:
        self.logged_in_at = None
        self.login_failures += 1

    @property
    def has_changed(self) -> bool:
        return self._state != self._saved or bool(self.requests)

    @property
    def has_row(self) -> bool:
        """Returns whether it is stored also without cookies."""
        return self.is_stored or self.login_failures > 0

    @property
    def _state(self) -> tuple[int, int, datetime | None]:
        return self.jar.changes, self.login_failures, self.logged_in_at

    def mark_saved(self) -> None:
        self._saved = self._state


class Sessions:
    """Loads and stores sessions."""

    def __init__(self, cipher: PasswordCipher | None = None) -> None:
        self._cipher = cipher
        self._has_warned = False

    async def open(self, stored: Sequence[StoredSession]) -> dict[int, DomainSession]:
        """Returns domain → its session. Decrypting takes a tenth of a millisecond each, so a thread does it."""
        if not stored:
            return {}
        return await asyncio.to_thread(self._open_all, stored, clock.now())

    def _open_all(self, stored: Sequence[StoredSession], now: datetime) -> dict[int, DomainSession]:
        return {row.domain_id: self._open(row, now) for row in stored}

    def _open(self, row: StoredSession, now: datetime) -> DomainSession:
        is_stored = row.sealed is not None or row.login_failures > 0
        empty = DomainSession(serves_https=row.serves_https, login_failures=row.login_failures, is_stored=is_stored)
        if row.sealed is None or self._cipher is None:
            return empty
        try:
            found = json.loads(self._cipher.open(row.sealed, "a session"))
            at = found["logged_in_at"]
            return DomainSession(
                CookieJar.load(found["cookies"], now),
                row.serves_https,
                datetime.fromisoformat(at) if at else None,
                found["login_key"],
                row.login_failures,
                is_stored,
            )
        except (ConfigurationError, ValueError, KeyError, TypeError):  # stored under another key, or by another version
            if not self._has_warned:
                self._has_warned = True
                log().warning("session not readable", action="session.unreadable", domain=row.domain_id)
            return empty

    async def seal(self, sessions: Mapping[int, DomainSession]) -> SessionColumns:
        """Returns the sessions as they are stored."""
        return await asyncio.to_thread(self._seal_all, sessions, clock.now())

    def _seal_all(self, sessions: Mapping[int, DomainSession], now: datetime) -> SessionColumns:
        sealed = {domain: self._seal(sessions[domain], now) for domain in sorted(sessions)}
        ids = [domain for domain, text in sealed.items() if text is not None or sessions[domain].has_row]
        return SessionColumns(
            domain_id=ids,
            sealed=[sealed[domain] for domain in ids],
            login_failures=[sessions[domain].login_failures for domain in ids],
            logged_in_at=[sessions[domain].logged_in_at for domain in ids],
        )

    def _seal(self, session: DomainSession, now: datetime) -> str | None:
        cookies, at = session.jar.dump(now), session.logged_in_at
        if self._cipher is None or not (cookies or at):
            return None
        found = {
            "cookies": cookies,
            "logged_in_at": at.isoformat() if at else None,
            "login_key": session.login_key,
        }
        try:
            return self._cipher.encrypt(json.dumps(found))
        except ConfigurationError:  # no key: cookies live as long as the lease
            return None


async def save(
    conn: Connection, columns: SessionColumns, requests: Iterable[tuple[int, LoginRequest]], held: Iterable[int]
) -> None:
    """Writes sessions and the requests of logins. Those of a lease that was lost are left out, but for the requests,
    which were made."""
    ours = set(held)
    rows = [row for row in zip(*columns, strict=True) if row[0] in ours]
    if rows:
        await store.save_sessions(conn, SessionColumns(*map(list, zip(*rows, strict=True))))
    made = [(domain, each.origin, each.requested_at, each.pace_ms) for domain, each in requests]
    if made:
        await store.add_login_requests(conn, LoginRequestColumns(*map(list, zip(*made, strict=True))))
