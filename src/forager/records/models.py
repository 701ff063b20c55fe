"""What an extractor found on a page: one record, with the evidence of each of its fields."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

INCOMPLETE = "missing:"
"""How the problem of a required field begins that was not found: `missing:price`."""


@dataclass(frozen=True, slots=True)
class FoundRecord:
    """One record. Frozen: it travels from the parser process to the transaction that stores it."""

    extractor: str
    """The extractor's name, or the plug-in's."""
    kind: str
    """What the record is: `recipe`, `job`, `event`."""
    key: str | None
    """What identifies the record on its page across visits; None: its position there."""
    fields: Mapping[str, Any]
    """Field → a value that JSON can hold. Fields that were not found are left out."""
    evidence: Mapping[str, str] = field(default_factory=dict)
    """Field → which source matched, and the truncated text it was read from."""
    problems: tuple[str, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether every required field was found and valid."""
        return not self.problems


def pack(record: FoundRecord) -> dict[str, Any]:
    """Returns the record as JSON-compatible values."""
    return {
        "extractor": record.extractor,
        "kind": record.kind,
        "key": record.key,
        "fields": dict(record.fields),
        "evidence": dict(record.evidence),
        "problems": list(record.problems),
    }


def unpack(packed: Mapping[str, Any]) -> FoundRecord:
    """The inverse of `pack`."""
    return FoundRecord(
        packed["extractor"],
        packed["kind"],
        packed["key"],
        packed["fields"],
        packed["evidence"],
        tuple(packed["problems"]),
    )
