"""Computes the delay after failed logins. Pure.

    unknown address   counts against the account and against the address
    known address     the account has signed in from there before: counts against the pair only

So an attacker who guesses passwords blocks neither the user at her usual address nor her colleagues. After five wrong
passwords the delay is half a minute, and doubles with each further one up to a quarter of an hour: no account is locked
permanently. A successful login resets the failures; so does a day without a further one.
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
    """The login history of one subject."""

    failures: int = 0
    failed_at: datetime | None = None
    wait_until: datetime | None = None
    succeeded_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Subjects:
    """The subjects that one attempt counts against."""

    account: str
    address: str
    pair: str

    @property
    def all(self) -> list[str]:
        return sorted((self.account, self.address, self.pair))


@dataclass(frozen=True, slots=True)
class Decision:
    """Either a delay, or the counts as they are if this attempt fails: stored before the password is verified, so that
    concurrent attempts do not bypass the limit."""

    wait_s: float
    counts: Mapping[str, tuple[int, datetime | None]]


def subjects_of(account: int | str, address: str) -> Subjects:
    """Returns the subjects, by account id. An unknown name counts too, as normalized by the database: an attacker must
    not learn which names exist."""
    whose, where = account_of(account), network_of(address)
    return Subjects(f"account:{whose}", f"address:{where}", f"pair:{whose} {where}")


def account_of(account: int | str) -> str:
    return f"#{account}" if isinstance(account, int) else account[:64]


def network_of(address: str) -> str:
    """Returns the /64 network of an IPv6 address: one household can use any number of addresses in it."""
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
