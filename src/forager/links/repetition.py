"""What looks harmless and never ends: pages of one template that bring nothing new, and calendars. Pure, in memory.

A page brings nothing new when its domain gave the same text under the same title before, or nearly the same under the
same template just now. Enough of them, and the template is a trap; one new page counts for ten against. A wide template
needs four times as many. Of a calendar, which is new on every page, only so many pages are taken; and of any template
no more than an operator allows.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from zlib import crc32

from forager.links.templates import is_prefix, is_shared, templates_of
from forager.links.traps import calendar_year
from forager.parsing.models import Reading

NEAR_BITS = 3
"""Of 64. Texts that differ in more say different things."""
LAST_KEPT = 4
"""A site may answer with one of a few texts in turn."""
WIDE_FACTOR = 4
NEW_PAGE = 10
"""So a template of which one page in eleven is new never becomes a trap."""
KEPT_FROM = 10
"""Pages of a suspect before it is written down: what is lost with a worker's memory costs no more visits than that."""
MOST_TEMPLATES = 500
"""Per domain; where each page has a template of its own, none of them will ever fill up."""
MOST_MARKS = 10_000
SAME = "nothing_new"
CALENDAR = "calendar"
BUDGET = "template_budget"
_TITLE_SPREAD = 0x9E3779B97F4A7C15


@dataclass(frozen=True, slots=True)
class TrapCandidate:
    """How far a template has come on its way to a trap."""

    rule: str
    template: str
    pages: int
    is_trap: bool
    example: str


def mark_of(reading: Reading) -> int | None:
    """What is the same for pages that say nearly the same; None where there is too little to say.

    A page with a title or headings of its own is a page of its own, however much its text resembles others. One without
    headings is the same only where every word is, and every number.
    """
    if reading.simhash is None:
        return None
    if not reading.headings:
        return int.from_bytes(reading.content_hash[:8], "big")
    name = f"{reading.title}\n{reading.headings}".encode(errors="replace")
    return (reading.simhash ^ crc32(name) * _TITLE_SPREAD) & (1 << 64) - 1


class TrapCounters:
    """What one domain gave so far. `note` is told of every page that was read for the first time."""

    def __init__(self, *, most_same: int, most_calendar: int, most_pages: int | None = None) -> None:
        self._most = {SAME: most_same, CALENDAR: most_calendar}
        self.allow(most_pages)
        self._marks: dict[int, int] = {}
        """Mark → length of the shortest template that brought it."""
        self._lasts: dict[str, list[int]] = {}
        self._counts: dict[tuple[str, str], int] = {}
        self._written: dict[tuple[str, str], int] = {}
        self._settled: set[tuple[str, str]] = set()

    def __len__(self) -> int:
        return len(self._marks)

    def recall(self, counts: Mapping[tuple[str, str], int]) -> None:
        """What others wrote down: (rule, template) → pages. What this memory counted is forgotten."""
        self._counts, self._written = dict(counts), dict(counts)

    def allow(self, most_pages: int | None) -> None:
        """Pages that may be taken of one template, whatever they bring; None: no end."""
        self._has_budget = most_pages is not None
        self._most[BUDGET] = most_pages or 0

    def settle(self, places: Iterable[tuple[str, str]]) -> None:
        """(Rule, template) that need no more counting: traps, and what an operator released."""
        self._settled = set(places)

    def note(self, url: str, mark: int | None) -> Iterator[TrapCandidate]:
        """What is to be written down: a trap, a suspect that grew, one that proved harmless."""
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
        """Whether it was known. The page with the shorter address is the one that the others repeat, also where it is
        found after them."""
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
        elif lasts or (SAME, template) not in self._counts:  # a suspect of a predecessor: nothing to compare with yet
            yield from self._reduce_count(template, url)
        self._keep_last(template, mark)

    def _keep_last(self, template: str, mark: int) -> None:
        lasts = self._lasts[template] = self._lasts.pop(template, [])  # to the end of the queue of those forgotten
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
        """A page that is new speaks for its template."""
        place = SAME, template
        pages = self._counts[place] = max(0, self._counts.get(place, 0) - NEW_PAGE)
        if place in self._written:
            self._written[place] = pages
            yield TrapCandidate(SAME, template, pages, False, url)
        if not pages:
            del self._counts[place]
            self._written.pop(place, None)
