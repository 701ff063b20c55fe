"""Response schemas of the instance itself: health and settings."""

from typing import Any, Literal

from pydantic import Field

from forager.api.types import Row

State = Literal["ok", "degraded", "down", "idle"]


class Part(Row):
    state: State
    detail: str = Field(examples=["PostgreSQL 18 (embedded)"])


class Health(Row):
    status: Literal["ok", "degraded", "down"]
    version: str
    parts: dict[str, Part] = Field(
        description="database, scheduler, workers, progress, disk; queue, search, redis where configured."
    )


class Setting(Row):
    name: str
    value: Any
    description: str | None
