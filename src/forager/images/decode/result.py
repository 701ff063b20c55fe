"""What the decoding process says of a file. Apart from the decoders, so that a worker need not load them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Look:
    """What a file turned out to be."""

    status: str
    """A value of `ImageStatus`."""
    reason: str | None = None
    """Why it is nothing to store."""
    format: str | None = None
    width: int | None = None
    height: int | None = None
    frames: int | None = None
    perceptual_hash: int | None = None
