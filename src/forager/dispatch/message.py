"""A dispatch message ("hint"): JSON that says where there may be work. Anything else is an invalid message.

{"v": 1, "run": 3, "domain_id": 17, "version": 4}    a domain of a run is due; no worker has held it since version 4
{"v": 1, "replay": 9}                                stored bodies are to be parsed again
"""

from dataclasses import dataclass
from typing import Any

VERSION = 1
LARGEST = 2**63 - 1
"""The largest bigint of the database."""


class InvalidMessageError(ValueError):
    """A message that no worker can use, now or later."""


@dataclass(frozen=True, slots=True)
class CrawlHint:
    run: int
    domain_id: int
    version: int
    """Version of the domain's lease: if it differs, a worker has held the domain since, and the hint is stale."""

    def document(self) -> dict[str, int]:
        return {"v": VERSION, "run": self.run, "domain_id": self.domain_id, "version": self.version}


@dataclass(frozen=True, slots=True)
class ReplayHint:
    replay: int

    def document(self) -> dict[str, int]:
        return {"v": VERSION, "replay": self.replay}


Hint = CrawlHint | ReplayHint


def read_hint(document: Any) -> Hint:
    """Parses a hint. Raises InvalidMessageError."""
    if not isinstance(document, dict):
        raise InvalidMessageError("it is no object")
    if document.get("v") != VERSION or isinstance(document["v"], bool):
        raise InvalidMessageError(f"its version is {document.get('v')!r}, and only {VERSION} is understood")
    names = {"v", "replay"} if "replay" in document else {"v", "run", "domain_id", "version"}
    if set(document) != names:
        raise InvalidMessageError(
            f"it has {', '.join(sorted(map(str, document)))} instead of {', '.join(sorted(names))}"
        )
    for name, value in document.items():
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LARGEST:
            raise InvalidMessageError(f"{name} is {value!r}, and no number of a row")
    if "replay" in document:
        return ReplayHint(document["replay"])
    return CrawlHint(document["run"], document["domain_id"], document["version"])
