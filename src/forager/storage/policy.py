"""What is kept of a body once it was read."""

from enum import StrEnum


class ContentPolicy(StrEnum):
    SIGNALS = "signals"
    """The reading is kept, the body is not."""
    SNAPSHOT = "snapshot"
    """Bodies, compressed and each content once, for some weeks."""
    ARCHIVE = "archive"
    """Every body with its request and headers, in WARC files, for good."""
