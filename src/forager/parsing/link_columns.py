"""The links of a page in columns, as they are found and as they are sent between processes.

A page has sixty links, and creating a record for each costs as much as finding its words, so records are created on
access.
"""

from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Any, overload

from forager.parsing.models import FoundLink


class LinkColumns(Sequence[FoundLink]):
    __slots__ = ("_links", "anchors", "hrefs", "rels")

    def __init__(self, hrefs: Sequence[str], anchors: Sequence[str], rels: Sequence[str]) -> None:
        self.hrefs = hrefs
        self.anchors = anchors
        self.rels = rels
        self._links: list[FoundLink] | None = None

    @classmethod
    def of(cls, links: Sequence[FoundLink]) -> "LinkColumns":
        if isinstance(links, LinkColumns):
            return links
        return cls(*zip(*links, strict=True)) if links else cls((), (), ())

    @property
    def columns(self) -> tuple[Sequence[str], Sequence[str], Sequence[str]]:
        return self.hrefs, self.anchors, self.rels

    def __len__(self) -> int:
        return len(self.hrefs)

    def __iter__(self) -> Iterator[FoundLink]:
        return iter(self._make())

    @overload
    def __getitem__(self, index: int) -> FoundLink: ...
    @overload
    def __getitem__(self, index: slice) -> list[FoundLink]: ...
    def __getitem__(self, index: int | slice) -> FoundLink | list[FoundLink]:
        return self._make()[index]

    def __eq__(self, other: object) -> bool:
        """Compares with any sequence of the same links, as tests compare lists."""
        return isinstance(other, Sequence) and self._make() == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._make())

    def _make(self) -> list[FoundLink]:
        if self._links is None:
            rows: Iterator[Any] = zip(self.hrefs, self.anchors, self.rels, strict=True)
            self._links = list(map(tuple.__new__, repeat(FoundLink), rows))
        return self._links
