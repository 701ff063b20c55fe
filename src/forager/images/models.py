"""What is done with images, what becomes of each, and what its file holds."""

from dataclasses import dataclass
from enum import StrEnum


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
