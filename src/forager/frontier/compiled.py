"""The inner loops of this package that are compiled from C, or None: the Python implementation, which documents each,
is used then. No other module imports `_native`."""

from collections.abc import Callable, Iterable, Sequence

from forager.links.models import Discovery
from forager.parsing.models import Keywords

Heard = bytes | tuple[int, tuple[tuple[bytes, int], ...]]
"""A word's lexeme, in UTF-8; or the number of positions the word takes, and its lexemes, each with its own position
among them."""
Weave = Callable[[Keywords, dict[str, Heard], dict[str, Heard]], bytes | list[str] | None]
Recall = Callable[
    [dict[str, None], dict[str, Heard], dict[str, Heard]], tuple[dict[str, Heard], dict[str, str], list[str]]
]
Hear = Callable[[str, int], list[Heard] | None]
FindKnown = Callable[[list[bytearray], bytes], int]
PutKnown = Callable[[list[bytearray], bytes, int], None]
TakeKnown = Callable[[Iterable[Discovery], list[bytearray], dict[bytes, int]], list[Discovery]]
JoinLinks = Callable[[Sequence[Discovery], dict[bytes, int]], tuple[str, str | None, str]]

weave: Weave | None = None
recall: Recall | None = None
hear_plain: Hear | None = None
hear_marked: Hear | None = None
find_known: FindKnown | None = None
put_known: PutKnown | None = None
take_known: TakeKnown | None = None
join_links: JoinLinks | None = None

try:
    from forager.frontier import _native
except ImportError:
    IS_THERE = False
else:
    IS_THERE = True
    weave, join_links = _native.weave, _native.join_links
    recall, hear_plain, hear_marked = _native.recall, _native.hear_plain, _native.hear_marked
    find_known, put_known, take_known = _native.find_known, _native.put_known, _native.take_known
