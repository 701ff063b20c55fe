"""Records of selected links and of the reasons why others were dropped."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from forager.parsing.models import FoundImage


class Discovery(NamedTuple):
    """A link worth enqueueing: normalised, in scope, with its key."""

    url: str
    key: bytes
    """16 bytes of the SHA-256 of `url`."""
    domain: str
    depth: int
    redirects: int
    anchor: str
    rel: str


class Sighting(NamedTuple):
    """An image of a page, normalised, with its key."""

    url: str
    key: bytes
    """16 bytes of the SHA-256 of `url`."""
    domain: str
    """Domain of the image's own host."""
    image: FoundImage


@dataclass(frozen=True, slots=True)
class Selection:
    """The selected links of one page, and the number of dropped links per reason."""

    links: Sequence[Discovery] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    """Reason → count: `scope`, `excluded`, `nofollow`, `binary`, `trap:` with the rule, `too_many`, `bad_url`,
    `duplicate`, `switched_off` (sitemaps or feeds that the settings do not follow)."""
    external: Sequence[Discovery] = ()
    """Links out of scope, which are stored and not visited; only for domains that store them. They count as dropped."""
    images: Sequence[Sighting] | None = None
    """Images the page shows; for an image that redirects, the redirect target. None: images were not collected."""
    is_adopted: bool = False
    """The only link is where a seed leads to, out of scope: it becomes a seed of the run."""
    wants_files: bool = False
    """Whether the image files are to be fetched."""
    files: Sequence[Discovery] = ()
    """Sitemaps and feeds that the page names, to be followed."""
