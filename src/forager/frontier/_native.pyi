"""What `_native.c` has; each function is described where its Python twin is."""

from collections.abc import Iterable, Sequence

from forager.records import Discovery

MOST_WORDS: int
MOST_PLACES: int
DEPTH_BITS: int

def weave(
    keywords: tuple[str, str, str, str],
    young: dict[str, str | tuple[int, tuple[tuple[str, int], ...]]],
    more: dict[str, str | tuple[int, tuple[tuple[str, int], ...]]],
    /,
) -> str | list[str] | None: ...
def find_known(segments: list[bytearray], key: bytes, /) -> int: ...
def put_known(segments: list[bytearray], entries: bytes, most_buckets: int, /) -> None: ...
def take_known(links: Iterable[Discovery], segments: list[bytearray], ids: dict[bytes, int], /) -> list[Discovery]: ...
def join_links(links: Sequence[Discovery], page_ids: dict[bytes, int], /) -> tuple[str, str | None, str]: ...
