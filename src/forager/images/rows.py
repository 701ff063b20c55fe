"""Parameters and results of the image statements: named columns of bulk statements, records of rows."""

from collections.abc import Sequence
from typing import NamedTuple


class SettledColumns(NamedTuple):
    """One element per image; NULL keeps the stored value, where the statement says so."""

    url_hash: Sequence[bytes]
    status: Sequence[str | None]
    reason: Sequence[str | None]
    format: Sequence[str | None]
    width: Sequence[int | None]
    height: Sequence[int | None]
    frames: Sequence[int | None]
    file_size: Sequence[int | None]
    content_hash: Sequence[bytes | None]
    perceptual_hash: Sequence[int | None]
    body_ref: Sequence[str | None]
    thumbnail_ref: Sequence[str | None]
    moved_to: Sequence[int | None]


class DomainImages(NamedTuple):
    domain_id: int
    images: int
