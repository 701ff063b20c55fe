"""What is kept of a body after it was parsed."""

from enum import StrEnum


class ContentPolicy(StrEnum):
    SIGNALS = "signals"
    """The parse result is kept, the body is not."""
    TEXT = "text"
    """The main text as Markdown, compressed, each content once, as long as snapshots."""
    SNAPSHOT = "snapshot"
    """Compressed bodies, each content once, for some weeks."""
    ARCHIVE = "archive"
    """Every body with its request and headers, in WARC files, forever."""
