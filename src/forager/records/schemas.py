"""Records, extractors and items, as responses show them."""

from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from forager.api.paging import Next
from forager.api.types import Body, Id, Row, Text

Event = Literal["first", "changed", "gone", "back"]


class RecordRow(Row):
    id: int = Field(examples=[12])
    domain: str = Field(examples=["shop.example"])
    url: str
    page_id: int
    extractor: str = Field(examples=["recipes"])
    kind: str = Field(examples=["recipe"])
    key: str | None = Field(description="What identifies it on its page; null: its position.")
    fields: dict[str, Any] = Field(examples=[{"title": "Cake", "minutes": 40}])
    problems: list[str] = Field(examples=[["missing:price"]])
    is_complete: bool
    first_seen_at: datetime
    last_seen_at: datetime
    changed_at: datetime
    gone_at: datetime | None = Field(description="Since when its page is read without it.")
    task_id: int | None = Field(description="The visit that saw it last.")


class Record(RecordRow):
    """One record, with where each field was found."""

    evidence: dict[str, str] = Field(examples=[{"title": "css h1: Cake"}])
    page_status: str


class RecordChange(Row):
    id: int
    seen_at: datetime
    event: Event
    field: str | None
    old_value: Any
    new_value: Any
    is_correction: bool = Field(description="The same visit was read again with another result.")
    task_id: int | None


class RecordHistory(BaseModel):
    """One record and what became of it."""

    record: Record
    changes: list[RecordChange] = Field(description="Oldest first.")
    next: Next


class ModelProgress(Row):
    """An extractor that asks a model."""

    is_configured: bool = Field(description="Whether model.url is set; otherwise no text is sent anywhere.")
    waiting: int = Field(description="Pages whose text it has not read yet.")
    done: int
    failed: int = Field(description="Pages that were given up.")
    calls_today: int = Field(description="Requests to the model today (UTC), of all extractors.")
    max_calls_per_day: int
    paused_until: datetime | None = Field(description="Until when the model is left alone after errors.")
    last_error: str | None


class ExtractorRow(Row):
    name: str = Field(examples=["recipes"])
    file: str | None = Field(description="Its file in the data folder; null: a plug-in's, or a file that is gone.")
    version: int | None
    kind: str | None
    description: str
    match: dict[str, Any] = Field(description="Which pages it is for, as in its file; empty without one.")
    fields: list[str]
    records: int
    complete: int
    gone: int
    domains: int
    last_seen_at: datetime | None
    failed: int = Field(description="Pages of the last seven days on which it did not come to its end.")
    last_error: str | None
    model: ModelProgress | None = Field(description="How far it is, if it asks a model; null: it has selectors.")


class ExtractorFile(BaseModel):
    name: str
    definition: str = Field(description="The text of its file.")


class SamplePage(Row):
    """A stored page as text. It comes from a site: show it only where its scripts cannot run."""

    page_id: int | None
    url: str
    html: str


class BadExtractorFile(Row):
    file: str
    problem: str


class Extractors(BaseModel):
    items: list[ExtractorRow]
    bad_files: list[BadExtractorFile]


class FieldCoverage(Row):
    domain: str
    day: date
    extractor: str
    field: str = Field(description="Empty: records as a whole.")
    found: int
    valid: int
    missing: int
    failed: int
    last_error: str | None
    rate: float | None = Field(description="Valid of those tried.")


class DroppedField(Row):
    domain: str
    extractor: str
    field: str
    tried: int
    rate: float
    rate_before: float


class ExtractRequest(Body):
    """An extractor, and what it is tried on: HTML with its URL, a stored page, or the newest stored pages."""

    definition: Annotated[Text, Field(min_length=1, max_length=65_536, description="The text of an extractor file.")]
    html: Annotated[str | None, Field(max_length=5_000_000)] = None
    url: Annotated[Text | None, Field(max_length=2_000)] = None
    page: Id | None = None
    domain: Annotated[Text | None, Field(max_length=255)] = None
    pages: Annotated[int, Field(ge=1, le=20)] = 5


class TriedRecord(Row):
    extractor: str
    kind: str
    key: str | None
    fields: dict[str, Any]
    evidence: dict[str, str]
    problems: list[str]
    is_complete: bool


class TriedPage(Row):
    page_id: int | None
    url: str
    records: list[TriedRecord]
    problems: list[str]


class ExtractResult(Row):
    name: str
    kind: str
    pages: list[TriedPage]


class ItemRow(Row):
    page_id: int
    url: str
    domain: str
    fetched_at: datetime | None
    position: int = Field(description="Its place among the items of its page, from 0 on.")
    syntax: str = Field(examples=["json-ld"])
    types: list[str] = Field(examples=[["Recipe"]])
    properties: dict[str, Any]
