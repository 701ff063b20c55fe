"""Keep: what happens to a body once it was read. The `signals` policy drops it; nothing else exists yet."""

from enum import StrEnum

from forager.errors import ConfigurationError
from forager.records import Fetched


class ContentPolicy(StrEnum):
    SIGNALS = "signals"
    """The reading is kept, the body is not."""
    SNAPSHOT = "snapshot"
    """The last body of each page."""
    ARCHIVE = "archive"
    """Every body, with its request and headers."""


def keep(policy: ContentPolicy, fetched: Fetched) -> None:
    """The reference of the stored body: always None, because `signals` stores none and the others are refused aloud."""
    if policy is not ContentPolicy.SIGNALS:
        raise ConfigurationError(
            f"The content policy {policy.value!r} is not available yet, so the body of {fetched.url} cannot be stored. "
            f"Set the policy to {ContentPolicy.SIGNALS.value!r}."
        )
