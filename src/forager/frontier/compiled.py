"""The inner loops of this room that are there in C, or None: each is described where its Python twin is, which is taken
then. Nobody else imports `_native`."""

from collections.abc import Callable, Iterable, Sequence

from forager.records import Discovery, Keywords

Heard = str | tuple[int, tuple[tuple[str, int], ...]]
"""A word's lexeme, as a tsvector spells it; or how many positions the word takes, and its lexemes, each with its own
among them."""
Weave = Callable[[Keywords, dict[str, Heard], dict[str, Heard]], str | list[str] | None]
TakeKnown = Callable[[Iterable[Discovery], dict[bytes, int], dict[bytes, int]], list[Discovery]]
JoinLinks = Callable[[Sequence[Discovery], dict[bytes, int]], tuple[str, str | None, str]]

weave: Weave | None = None
take_known: TakeKnown | None = None
join_links: JoinLinks | None = None

try:
    from forager.frontier import _native
except ImportError:
    IS_THERE = False
else:
    IS_THERE = True
    weave, take_known, join_links = _native.weave, _native.take_known, _native.join_links
