"""Detects traps that look harmless: templates whose pages bring nothing new, and calendars. Pure, in memory.

A page brings nothing new when its domain returned the same text under the same title before, or nearly the same text
under the same template just now. Enough such pages make the template a trap; one new page offsets ten of them. A wide
template needs four times as many. A calendar is new on every page, so the number of its pages is limited; the operator
can also limit the pages of any template.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from zlib import crc32

from forager.links.templates import is_prefix, is_shared, templates_of
from forager.links.traps import calendar_year
from forager.parsing.models import Reading

NEAR_BITS = 3
"""Out of 64 bits. Texts that differ in more bits count as different."""
LAST_KEPT = 4
"""A site may alternate between a few texts."""
WIDE_FACTOR = 4
NEW_PAGE = 10
"""Offset per new page: a template with one new page in eleven never becomes a trap."""
KEPT_FROM = 10
"""Number of pages after which a suspect is saved; losing a worker's memory costs at most this many extra visits."""
MOST_TEMPLATES = 500
"""Per domain. Where each page has its own template, no template ever reaches the limit."""
MOST_MARKS = 10_000
SAME = "nothing_new"
CALENDAR = "calendar"
BUDGET = "template_budget"
_TITLE_SPREAD = 0x9E3779B97F4A7C15


@dataclass(frozen=True, slots=True)
class TrapCandidate:
    """A template that may become a trap, with its page count."""

    rule: str
    template: str
    pages: int
    is_trap: bool
    example: str


def mark_of(reading: Reading) -> int | None:
    """Returns a mark that is equal or close for pages with nearly the same content; None for too little content.

    A page with its own title or headings is distinct, however similar its text. Pages without headings match only if
    every word and every number is the same.
    """
    if reading.simhash is None:
        return None
    if not reading.headings:
        return int.from_bytes(reading.content_hash[:8], "big")
    name = f"{reading.title}\n{reading.headings}".encode(errors="replace")
    return (reading.simhash ^ crc32(name) * _TITLE_SPREAD) & (1 << 64) - 1


class TrapCounters:
    """Page counts of one domain. The caller passes every page that is parsed for the first time to `note`."""

    def __init__(self, *, most_same: int, most_calendar: int, most_pages: int | None = None) -> None:
        self._most = {SAME: most_same, CALENDAR: most_calendar}
        self.allow(most_pages)
        self._marks: dict[int, int] = {}
        """Mark → length of the shortest template that produced it."""
        self._lasts: dict[str, list[int]] = {}
        self._counts: dict[tuple[str, str], int] = {}
        self._written: dict[tuple[str, str], int] = {}
        self._settled: set[tuple[str, str]] = set()

    def __len__(self) -> int:
        return len(self._marks)

    def recall(self, counts: Mapping[tuple[str, str], int]) -> None:
        """Replaces the counts with those that other workers saved: (rule, template) → pages."""
        self._counts, self._written = dict(counts), dict(counts)

    def allow(self, most_pages: int | None) -> None:
        """Sets the maximum number of pages per template, whatever their content; None: unlimited."""
        self._has_budget = most_pages is not None
        self._most[BUDGET] = most_pages or 0

    def settle(self, places: Iterable[tuple[str, str]]) -> None:
        """Sets the (rule, template) pairs that are no longer counted: known traps, and those an operator released."""
        self._settled = set(places)

    def note(self, url: str, mark: int | None) -> Iterator[TrapCandidate]:
        """Yields the candidates to save: a trap, a suspect whose count grew, or one that proved harmless."""
        templates = templates_of(url)
        if templates and calendar_year(url) is not None:
            yield from self._count(CALENDAR, templates[0], url)
        if self._has_budget and templates and is_shared(templates[0]):
            yield from self._count(BUDGET, templates[0], url)
        if mark is None:
            return
        is_known = self._add_fingerprint(mark, len(templates[0]) if templates else 0)
        if not any((SAME, template) in self._settled for template in templates):
            for template in templates:
                yield from self._compare(template, mark, url, is_known=is_known)

    def _add_fingerprint(self, mark: int, length: int) -> bool:
        """Records the mark; returns whether it was known. The page with the shorter URL counts as the original, even if
        it is found after its copies."""
        shortest = self._marks.get(mark)
        if shortest is not None and shortest <= length:
            return True
        if len(self._marks) >= MOST_MARKS:
            self._marks.clear()
        self._marks[mark] = length
        return False

    def _compare(self, template: str, mark: int, url: str, *, is_known: bool) -> Iterator[TrapCandidate]:
        lasts = self._lasts.get(template)
        if is_known or (lasts and any((mark ^ last).bit_count() <= NEAR_BITS for last in lasts)):
            yield from self._count(SAME, template, url)
        elif lasts or (SAME, template) not in self._counts:  # saved by another worker: nothing to compare yet
            yield from self._reduce_count(template, url)
        self._keep_last(template, mark)

    def _keep_last(self, template: str, mark: int) -> None:
        lasts = self._lasts[template] = self._lasts.pop(template, [])  # moves to the end of the eviction queue
        if mark not in lasts:
            lasts.append(mark)
            del lasts[:-LAST_KEPT]
        if len(self._lasts) > MOST_TEMPLATES:
            eldest = next(iter(self._lasts))
            del self._lasts[eldest]
            if self._counts.get((SAME, eldest), KEPT_FROM) < KEPT_FROM:
                del self._counts[SAME, eldest]

    def _count(self, rule: str, template: str, url: str) -> Iterator[TrapCandidate]:
        place = rule, template
        if place in self._settled:
            return
        pages = self._counts[place] = self._counts.get(place, 0) + 1
        is_trap = pages >= self._most[rule] * (WIDE_FACTOR if is_prefix(template) else 1)
        if is_trap or pages - self._written.get(place, 0) >= KEPT_FROM:
            self._written[place] = pages
            if is_trap:
                self._settled.add(place)
            yield TrapCandidate(rule, template, pages, is_trap, url)

    def _reduce_count(self, template: str, url: str) -> Iterator[TrapCandidate]:
        """Lowers the count of a template after a page with new content."""
        place = SAME, template
        pages = self._counts[place] = max(0, self._counts.get(place, 0) - NEW_PAGE)
        if place in self._written:
            self._written[place] = pages
            yield TrapCandidate(SAME, template, pages, False, url)
        if not pages:
            del self._counts[place]
            self._written.pop(place, None)
