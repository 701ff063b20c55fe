"""The image policy, the status of an image, and the contents of its file."""

from dataclasses import dataclass
from enum import StrEnum


class ImagePolicy(StrEnum):
    """What is done with the images that pages show."""

    NONE = "none"
    """Nothing."""
    FOUND = "found"
    """Their URLs are stored, with the pages each was seen on."""
    DOWNLOAD = "download"
    """They are fetched and stored too."""


class ImageStatus(StrEnum):
    """The status of an image; the values of the database's `image_status`."""

    FOUND = "found"
    STORED = "stored"
    MOVED = "moved"
    """Its URL redirects to another."""
    GONE = "gone"
    BLOCKED = "blocked"
    """robots.txt, the address guard or the server denies it."""
    FAILED = "failed"
    """No usable response came, and no attempts are left."""
    BROKEN = "broken"
    """The file cannot be decoded."""
    TOO_BIG = "too_big"
    """More bytes, or more pixels, than the limit."""
    NOT_AN_IMAGE = "not_an_image"
    """The file is not an image, although it is served as one."""
    DROPPED = "dropped"
    """It was stored; retention deleted the file. Its metadata stays."""


@dataclass(frozen=True, slots=True)
class ImageFile:
    """The contents of a file that was fetched as an image."""

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
    """The location of the file; set when it is stored."""
    thumbnail_ref: str | None = None
    reason: str | None = None
    """Why it is not stored."""

    @property
    def key(self) -> bytes:
        """Returns the key in the form that pages use, to detect changes."""
        return self.content_hash[:16]
