"""The result of the decoding process. Separate from the decoders, so that a worker need not load them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Look:
    """The result of inspecting a file."""

    status: str
    """A value of `ImageStatus`."""
    reason: str | None = None
    """Why the file is not stored."""
    format: str | None = None
    width: int | None = None
    height: int | None = None
    frames: int | None = None
    perceptual_hash: int | None = None
