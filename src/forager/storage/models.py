"""A body on its way into the store: packed where it was read, stored in a batch, referenced by its task."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class StoredBody:
    """The body of one visit, ready to be written."""

    kind: str
    """A value of `storage.policy.ContentPolicy`, never `signals`."""
    digest: str
    """Its identity: the content hash of a snapshot or text, the payload hash of an archived body."""
    size_bytes: int
    """Before compression."""
    blob: bytes = field(default=b"", repr=False)
    lead: bytes = field(default=b"", repr=False)
    """For an archived body: the record of its request, which is written before it."""
    index: str = ""
    """For an archived body: its line of the index, without its position."""
    origin: tuple[str, str] | None = None
    """For an archived body that may be referenced instead of written again: its URL and moment."""
    ref: str | None = None
    """Set if the body is stored already and was only confirmed."""
    is_body: bool = True
    """False for bodies archived for completeness, such as a redirect: no task refers to them."""

    @property
    def buffer_bytes(self) -> int:
        return len(self.blob) + len(self.lead)
