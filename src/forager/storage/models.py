"""A body on its way into the store: packed where it was read, stored in a batch, referred to by its task."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class StoredBody:
    """What is to be stored of one visit. All the work is done, but for the writing."""

    kind: str
    """A value of `archive.ContentPolicy`, never `signals`."""
    digest: str
    """What it is known by: of a snapshot the hash of its content, of an archived body that of its payload."""
    size_bytes: int
    """Before compression."""
    blob: bytes = field(default=b"", repr=False)
    lead: bytes = field(default=b"", repr=False)
    """Of an archived body: the record of its request, which is written before it."""
    index: str = ""
    """Of an archived body: its line of the index, without its place."""
    origin: tuple[str, str] | None = None
    """Of an archived body that may be referred to instead of written again: its URL and moment."""
    ref: str | None = None
    """Set where the body is stored already and was only confirmed."""
    is_body: bool = True
    """False for what is archived for completeness, such as a redirect: no task refers to it."""

    @property
    def buffer_bytes(self) -> int:
        return len(self.blob) + len(self.lead)
