"""How long somebody waits after wrong passwords. Pure.

    strange address   counts against the account and against the address
    known address     the account signed in from there before: counts against the two together only

So a stranger who guesses keeps neither the person from signing in where she always does, nor her colleagues. After five
wrong passwords the wait is half a minute, and doubles with each further one up to a quarter of an hour: nobody is
locked out for ever. What was wrong is forgotten by a right one, or after a day.
"""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

FREE_TRIES = 5
FIRST_WAIT_S = 30.0
LONGEST_WAIT_S = 900.0
FORGOTTEN_AFTER = timedelta(days=1)
KNOWN_FOR = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Record:
    """What is known of one subject."""

    failures: int = 0
    failed_at: datetime | None = None
    wait_until: datetime | None = None
    succeeded_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Subjects:
    """Whom one try counts against."""

    account: str
    address: str
    pair: str

    @property
    def all(self) -> list[str]:
        return sorted((self.account, self.address, self.pair))


@dataclass(frozen=True, slots=True)
class Decision:
    """Either a wait, or the counts as they are if this try is wrong: written down before the password is looked at,
    so that many tries at once are no way around."""

    wait_s: float
    counts: Mapping[str, tuple[int, datetime | None]]


def subjects_of(account: int | str, address: str) -> Subjects:
    """By the number of an account. A name that nobody has counts too, as the database compares names: who guesses must
    not learn which names there are."""
    whose, where = account_of(account), network_of(address)
    return Subjects(f"account:{whose}", f"address:{where}", f"pair:{whose} {where}")


def account_of(account: int | str) -> str:
    return f"#{account}" if isinstance(account, int) else account[:64]


def network_of(address: str) -> str:
    """Of IPv6 the /64: one household has as many addresses as it likes in it."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address[:64]
    return str(ipaddress.ip_network((found, 64), strict=False)) if found.version == 6 else str(found)


def wait_after(failures: int) -> float:
    if failures < FREE_TRIES:
        return 0.0
    return min(FIRST_WAIT_S * 2.0 ** min(failures - FREE_TRIES, 20), LONGEST_WAIT_S)


def check_attempt(subjects: Subjects, records: Mapping[str, Record], now: datetime) -> Decision:
    counted = _counted(subjects, records, now)
    waits = [_left_s(records.get(subject, Record()), now) for subject in counted]
    if (wait_s := max(waits)) > 0:
        return Decision(wait_s, {})
    return Decision(0.0, {subject: _after_failure(records.get(subject, Record()), now) for subject in counted})


def _counted(subjects: Subjects, records: Mapping[str, Record], now: datetime) -> list[str]:
    since = records.get(subjects.pair, Record()).succeeded_at
    is_known = since is not None and now - since < KNOWN_FOR
    return [subjects.pair] if is_known else [subjects.account, subjects.address]


def _left_s(record: Record, now: datetime) -> float:
    return 0.0 if record.wait_until is None else (record.wait_until - now).total_seconds()


def _after_failure(record: Record, now: datetime) -> tuple[int, datetime | None]:
    is_forgotten = record.failed_at is None or now - record.failed_at > FORGOTTEN_AFTER
    failures = 1 if is_forgotten else record.failures + 1
    wait_s = wait_after(failures)
    return failures, now + timedelta(seconds=wait_s) if wait_s else None
