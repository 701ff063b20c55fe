"""Images on their way: as a page wrote them, as they are known, and what became of their files."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class ImagePolicy(StrEnum):
    """What is done with the images that pages show."""

    NONE = "none"
    """Nothing."""
    FOUND = "found"
    """Their URLs are kept, with where each was seen."""
    DOWNLOAD = "download"
    """They are fetched and stored too."""


class ImageStatus(StrEnum):
    """Where an image stands; the values of the database's `image_status`."""

    FOUND = "found"
    STORED = "stored"
    MOVED = "moved"
    """Its URL redirects to another."""
    GONE = "gone"
    BLOCKED = "blocked"
    """robots.txt, the address guard or the server refuses it."""
    FAILED = "failed"
    """Nobody usable answered, and no more tries are left."""
    BROKEN = "broken"
    """The file cannot be decoded."""
    TOO_BIG = "too_big"
    """More bytes, or more pixels, than we take."""
    NOT_AN_IMAGE = "not_an_image"
    """Something else calls itself an image."""
    DROPPED = "dropped"
    """It was stored; retention deleted the file. What is known of it stays."""


class FoundImage(NamedTuple):
    """An image as the page wrote it."""

    src: str
    discovery_type: str
    """`img`, `srcset`, `picture`, `lazy`, `og`, `twitter`, `link`, `jsonld`, `background`, `sitemap`."""
    image_type: str
    """`primary`, `gallery`, `thumbnail`."""
    alt: str
    width: int | None = None
    """As declared, in pixels."""
    height: int | None = None

    def merge_missing(self, twin: "FoundImage") -> "FoundImage":
        """An image that a page shows twice: what the first place says, and of the second what it did not say."""
        return self._replace(
            alt=self.alt or twin.alt, width=self.width or twin.width, height=self.height or twin.height
        )


class Sighting(NamedTuple):
    """An image of a page that is worth knowing: normalised, with its key."""

    url: str
    key: bytes
    """16 bytes of the SHA-256 of `url`."""
    domain: str
    """Of the image's own host."""
    image: FoundImage


@dataclass(frozen=True, slots=True)
class ImageFile:
    """What a file that was fetched as an image turned out to be."""

    status: ImageStatus
    content_hash: bytes
    """SHA-256 of all its bytes."""
    file_size: int
    format: str | None = None
    """`jpeg`, `png`, `gif`, `webp`, `avif`, `bmp`, `ico`, `tiff`, `svg`."""
    width: int | None = None
    height: int | None = None
    frames: int | None = None
    perceptual_hash: int | None = None
    """64 bits, signed."""
    body_ref: str | None = None
    """Where the file is; set when it is stored."""
    thumbnail_ref: str | None = None
    reason: str | None = None
    """Why it is not stored."""

    @property
    def key(self) -> bytes:
        """As pages have it, to tell whether it changed."""
        return self.content_hash[:16]
