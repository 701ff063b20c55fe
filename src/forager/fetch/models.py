"""One HTTP response, and whether a browser renders the page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Rendering(StrEnum):
    """Whether scripts of a page are run before it is read."""

    NEVER = "never"
    AUTO = "auto"
    """Where the plain page is an empty shell."""
    ALWAYS = "always"


class BodyCoding(NamedTuple):
    """How a body that is still compressed becomes plain: `fetch.decode.decompress`."""

    content_encoding: str
    max_bytes: int
    """It may not grow past."""


@dataclass(frozen=True, slots=True)
class RawHeads:
    """Request and answer as they went over the wire, without the body."""

    request: bytes
    headers: Sequence[tuple[bytes, bytes]]
    """Of the answer, repeated ones apart, in their order."""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Fetched:
    """One HTTP answer, body capped and, unless `coding` is set, decompressed. Redirects are answers too; nothing
    follows them here."""

    url: str
    status_code: int
    headers: Mapping[str, str]
    """Names in lower case; repeated headers joined by ", "."""
    body: bytes
    """Empty when the content type is none we read."""
    wire_bytes: int
    response_time_ms: int
    is_truncated: bool = False
    """The compressed body broke off; what came before is kept."""
    has_new_cookie: bool = False
    """It set a cookie that the same request would send along the next time."""
    raw: RawHeads | None = None
    """Only where it was asked for: bodies are archived with them."""
    coding: BodyCoding | None = None
    """Set where the body is as it came: the process that reads it decompresses it, and it waits in a fifth of the
    memory."""

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "")
