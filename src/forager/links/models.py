"""Links worth knowing, and what was left out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from forager.parsing.models import FoundImage


class Discovery(NamedTuple):
    """A link worth knowing: normalised, in scope, with its key. What `learn` takes."""

    url: str
    key: bytes
    """16 bytes of the SHA-256 of `url`."""
    domain: str
    depth: int
    redirects: int
    anchor: str
    rel: str


class Sighting(NamedTuple):
    """An image of a page that is worth knowing: normalised, with its key."""

    url: str
    key: bytes
    """16 bytes of the SHA-256 of `url`."""
    domain: str
    """Of the image's own host."""
    image: FoundImage


@dataclass(frozen=True, slots=True)
class Selection:
    """The links of one page after selecting, and how many were left out for which reason."""

    links: Sequence[Discovery] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    """Reason → count: `scope`, `excluded`, `nofollow`, `binary`, `trap:` with the rule, `too_many`, `bad_url`,
    `duplicate`."""
    images: Sequence[Sighting] | None = None
    """What the page shows; of an image that redirects, where to. None: nobody looked."""
    wants_files: bool = False
    """The images are to be fetched."""
