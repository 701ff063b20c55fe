"""What `_native.c` has; each function is described where its Python twin is."""

from collections.abc import Iterable, Sequence

from forager.links.models import Discovery

MOST_WORDS: int
MOST_PLACES: int
LONGEST_REMEMBERED: int
LAST_PLACE: int
FIRST_MARK: int
DEPTH_BITS: int

_Heard = bytes | tuple[int, tuple[tuple[bytes, int], ...]]

def weave(
    keywords: tuple[str, str, str, str],
    young: dict[str, _Heard],
    more: dict[str, _Heard],
    /,
) -> bytes | list[str] | None: ...
def recall(
    words: dict[str, None], young: dict[str, _Heard], old: dict[str, _Heard], /
) -> tuple[dict[str, _Heard], dict[str, str], list[str]]: ...
def hear_plain(vector: str, words: int, /) -> list[_Heard] | None: ...
def hear_marked(vector: str, words: int, /) -> list[_Heard] | None: ...
def find_known(segments: list[bytearray], key: bytes, /) -> int: ...
def put_known(segments: list[bytearray], entries: bytes, most_buckets: int, /) -> None: ...
def take_known(links: Iterable[Discovery], segments: list[bytearray], ids: dict[bytes, int], /) -> list[Discovery]: ...
def join_links(links: Sequence[Discovery], page_ids: dict[bytes, int], /) -> tuple[str, str | None, str]: ...
