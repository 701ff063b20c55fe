"""Versions of pages and captures, as responses show them."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from forager.api.types import Row
from forager.captures.models import BodyState, Change

Hash = Annotated[
    str | None, Field(description="`sha256:` and base 32, of the body.", examples=["sha256:4OYMIQUY7QOB…"])
]


class PageVersion(Row):
    """One stored version of a page."""

    task_id: int = Field(description="The visit; `/api/tasks/{id}/body` is its body.", examples=[4711])
    fetched_at: datetime
    kind: str = Field(examples=["snapshot"])
    state: BodyState = Field(description="Whether its body can be read.")
    status_code: int | None
    content_type: str | None = Field(examples=["text/html; charset=utf-8"])
    content_hash: Hash
    size_bytes: int | None
    stored_bytes: int | None = Field(description="Compressed; of a repeated body, of the record that refers to it.")
    change: Change | None = Field(description="Compared with the version before; null: not known.")
    is_archived: bool = Field(description="The visit moved to an archive file, and was read back.")


class PageDiff(Row):
    """What changed from one version of a page to another."""

    from_task: int
    to_task: int
    from_at: datetime
    to_at: datetime
    added: int = Field(description="Lines.")
    removed: int
    diff: str = Field(description="As `diff -u` writes it; empty: no line differs.")
    is_rough: bool = Field(description="They differ in so many places that a part is shown as replaced.")
    is_truncated: bool


class CaptureRow(Row):
    """One stored capture, in the fields of the CDX server API."""

    urlkey: str = Field(examples=["example,shop)/lamp"])
    timestamp: str = Field(examples=["20261116101500"])
    original: str = Field(examples=["https://shop.example/lamp"])
    mimetype: str = Field(examples=["text/html"])
    statuscode: int | None
    digest: Hash
    length: int | None
    filename: str | None
    offset: int | None
    task_id: int
