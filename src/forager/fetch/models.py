"""One HTTP response, and whether a browser renders the page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Rendering(StrEnum):
    """Whether scripts of a page are run before it is parsed."""

    NEVER = "never"
    AUTO = "auto"
    """Renders where the plain page is an empty shell."""
    ALWAYS = "always"


class RenderSteps(NamedTuple):
    """What the browser does with a page after it has loaded, and before the page is read."""

    wait_for: str | None = None
    """A CSS selector; the page is read when an element matches, or when its time is over."""
    click: tuple[str, ...] = ()
    """CSS selectors whose first match is clicked, in order; one that matches nothing is skipped."""
    scroll: int = 0
    """Times the page is scrolled to its end; fewer where that loads nothing."""
    screenshot: bool = False


class ScriptRequest(NamedTuple):
    """What a script of a page sends to its own site: headers and, of a POST, the body."""

    headers: Mapping[str, str]
    body: bytes | None = None


class BodyCoding(NamedTuple):
    """How to decompress a body that is still compressed: see `fetch.decode.decompress`."""

    content_encoding: str
    max_bytes: int
    """Maximum decompressed size."""


@dataclass(frozen=True, slots=True)
class RawHeads:
    """Request and response as sent over the network, without the body."""

    request: bytes
    headers: Sequence[tuple[bytes, bytes]]
    """Headers of the response in their order, repeated ones separate."""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Fetched:
    """One HTTP response with its body capped and, unless `coding` is set, decompressed. Redirects are responses too;
    nothing follows them here."""

    url: str
    status_code: int
    headers: Mapping[str, str]
    """Names in lower case; repeated headers joined by ", "."""
    body: bytes
    """Empty when the content type is not one we read."""
    wire_bytes: int
    response_time_ms: int
    is_truncated: bool = False
    """The compressed body was truncated; what was decoded before is kept."""
    has_new_cookie: bool = False
    """The response set a cookie that the same request would send the next time."""
    raw: RawHeads | None = None
    """Set only on request: bodies are archived with them."""
    coding: BodyCoding | None = None
    """Set where the body is still compressed: the process that parses it decompresses it, and until then it takes a
    fifth of the memory."""

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "")
