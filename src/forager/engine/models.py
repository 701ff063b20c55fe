"""Reasons why a worker starts no requests although there is work: a fault of our own, never one of a site."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class PauseReason(StrEnum):
    NO_PARSER = "no_parser"
    STORE_UNAVAILABLE = "store_unavailable"
    NETWORK_DOWN = "network_down"
    DATABASE_UNAVAILABLE = "database_unavailable"


SENTENCES: Mapping[str, str] = {
    PauseReason.NO_PARSER: "no parser process starts",
    PauseReason.STORE_UNAVAILABLE: "bodies cannot be stored",
    PauseReason.NETWORK_DOWN: "our own network is down",
    PauseReason.DATABASE_UNAVAILABLE: "the database is unavailable",
}


@dataclass(frozen=True, slots=True)
class Pause:
    """One reason for which a worker is paused, and since when on the monotonic clock."""

    reason: PauseReason
    detail: str
    since: float


def describe_pause(reason: str, detail: str | None) -> str:
    """Returns the pause as a clause: `bodies cannot be stored (No space left on device)`. Accepts reasons of a newer
    version of Forager."""
    says = SENTENCES.get(reason, reason.replace("_", " "))
    return f"{says} ({detail})" if detail else says
