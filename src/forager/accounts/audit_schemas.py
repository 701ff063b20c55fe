"""Response schemas of the audit log."""

from datetime import datetime
from typing import Any

from pydantic import Field

from forager.api.types import Row


class AuditEntry(Row):
    id: int
    at: datetime
    who: str
    via: str
    credential_id: int | None = Field(description="Which token or session acted, as `via` says.")
    ip: str | None
    action: str
    object_kind: str | None
    object_id: str | None
    outcome: str
    details: Any
