"""Python version of the tables of `tree.py`, built from the markup that turbohtml writes of its tree.

`c/tokenizer.h`, `c/builder.h` and `c/tree.h` do the same in C, with a parser of their own.
"""

import re
from typing import TYPE_CHECKING, NamedTuple

from forager.parsing.class_names import AROUND_TAGS, LONGEST_NAMES, NAMED_TAGS, classify_names

if TYPE_CHECKING:
    from forager.parsing.tree_types import Child, Event, Marked

PROSE_BYTES = 80
MOST_RUNS = 1000
LOOKED_AT = 4096
"""Limits for a truncated text: `MOST_RUNS` runs, and this many bytes in addition to those for its length. Nested
elements share the same text."""
RAW = frozenset({b"script", b"style", b"xmp", b"iframe", b"noembed", b"noframes", b"plaintext"})
VOID = frozenset(
    b"area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr".split()
)
BLOCKS = frozenset(
    b"p hr li td th tr ul ol dl dt dd h1 h2 h3 h4 h5 h6 div nav pre xmp dir main form html head body menu title table"
    b" tbody thead tfoot aside footer header figure dialog button select option center legend hgroup search section"
    b" article caption address details summary textarea fieldset optgroup frameset plaintext blockquote"
    b" figcaption".split()
)
UNSEEN = frozenset(b"script style iframe noembed noscript noframes template".split())
CONTROLS = frozenset(b"svg head video audio button select option canvas textarea optgroup datalist".split())
IN_DRAWING = frozenset({b"foreignobject", b"desc", b"title"})
IN_FORMULA = frozenset(b"mi mo mn ms mtext".split())
HTML_IN_FORMULA = frozenset({b"text/html", b"application/xhtml+xml"})
GAP = b" \t\n\r\f\v"
GAPS = re.compile(rb"(?:[ \t\n\r\f\v]|\xc2\xa0)+")
NO_BREAK_SPACE = b"\xc2\xa0"
NAME = re.compile(rb"[^ />]*")
ATTRIBUTE = re.compile(rb'[ /]*+([^ />][^= >]*|/)(?:="([^"]*)"?)?')
ESCAPES = ((b"&lt;", b"<"), (b"&gt;", b">"), (b"&quot;", b'"'), (b"&nbsp;", b"\xc2\xa0"), (b"&amp;", b"&"))


class _Element:
    __slots__ = ("attributes", "block", "content", "end", "parent", "run_end", "run_first", "space", "tag")

    def __init__(self, tag: bytes, parent: int, run: int, space: bytes, attributes: dict[bytes, bytes]) -> None:
        self.tag, self.parent, self.space, self.attributes = tag, parent, space, attributes
        self.run_first = self.run_end = run
        self.end = self.block = 0
        self.content = b""


class _Run(NamedTuple):
    text: bytes
    owner: int
    total: int
    links: int
    """Bytes up to this run."""
    is_unseen: bool
    is_control: bool
    is_link: bool
    is_alt: bool
    begins_line: bool
    has_space: bool
    is_gap: bool = False
    """Nothing but white space, where that is kept: in a `pre`."""


class PythonTree:
    def __init__(self, markup: bytes) -> None:
        self._page = markup
        self._elements: list[_Element] = []
        self._runs: list[_Run] = []
        self._prose: list[int] = []
        """For each run, bytes of paragraphs up to it."""
        self._open = -1
        self._inert = 0
        self._depth = {"unseen": 0, "control": 0, "link": 0, "pre": 0}
        self._total = self._links = self._paragraphs = 0
        self._line_total = self._line_links = 0
        self._has_break = self._has_space = False
        self._scan()

    # the scan

    def _scan(self) -> None:
        page, at, size = self._page, 0, len(self._page)
        while at < size:
            tag = page.find(b"<", at)
            tag = size if tag < 0 else tag
            if tag > at:
                self._add_text(_unescape(page[at:tag]))
            at = tag
            if size - at < 2:
                break
            sign = page[at + 1 : at + 2]
            if sign == b"/":
                at = self._read_end(at)
            elif sign == b"!":
                is_comment = page.startswith(b"<!--", at)
                at = self._find_end(b"-->", at + 4) if is_comment else self._find_end(b">", at + 2)
            elif sign == b"?":
                at = self._find_end(b">", at + 2)
            else:
                at = self._read_start(at)
        while self._open >= 0:
            self._close()

    def _find_end(self, sign: bytes, at: int) -> int:
        found = self._page.find(sign, at)
        return len(self._page) if found < 0 else found + len(sign)

    def _add_text(self, text: bytes) -> None:
        if self._inert or self._open < 0:
            return
        if not text.strip(GAP):
            self._has_space = True
            if self._depth["pre"] and not self._depth["unseen"] and not self._depth["control"]:
                self._add_gap(text)
        else:
            self._add_run(text, self._open, is_alt=False)

    def _add_gap(self, text: bytes) -> None:
        counts = (self._total, self._links)
        self._runs.append(_Run(text, self._open, *counts, True, False, False, False, False, False, is_gap=True))
        self._prose.append(self._paragraphs)

    def _add_run(self, text: bytes, owner: int, *, is_alt: bool) -> None:
        is_unseen, is_control, is_link = (bool(self._depth[name]) for name in ("unseen", "control", "link"))
        begins_line, has_space = (False, False) if is_alt else (self._has_break, self._has_space)
        if not is_alt:
            self._has_break = self._has_space = False
            if not is_unseen and not is_control:
                shown = len(text.replace(NO_BREAK_SPACE, b"").translate(None, GAP))
                self._total += shown
                self._line_total += shown
                if is_link:
                    self._links += shown
                    self._line_links += shown
        self._runs.append(
            _Run(text, owner, self._total, self._links, is_unseen, is_control, is_link, is_alt, begins_line, has_space)
        )
        self._prose.append(self._paragraphs)

    def _end_line(self) -> None:
        if self._line_total >= PROSE_BYTES and self._line_links * 2 <= self._line_total:
            self._paragraphs += self._line_total
            for at in range(len(self._runs) - 1, -1, -1):
                self._prose[at] = self._paragraphs
                if not self._runs[at].is_gap:
                    break
        self._line_total = self._line_links = 0
        self._has_break = True

    def _space_of(self, name: bytes) -> bytes:
        if name in {b"svg", b"math"}:
            return name
        if self._open < 0:
            return b""
        above = self._elements[self._open]
        if (above.space == b"svg" and above.tag in IN_DRAWING) or (above.space == b"math" and above.tag in IN_FORMULA):
            return b""
        if above.tag == b"annotation-xml" and above.attributes.get(b"encoding", b"").lower() in HTML_IN_FORMULA:
            return b""
        return above.space

    def _read_start(self, at: int) -> int:
        match = NAME.match(self._page, at + 1)
        assert match is not None
        name = match[0].lower()  # in SVG some have capital letters
        space = self._space_of(name)
        attributes, at = self._read_attributes(match.end())
        is_html = not space
        if self._inert:
            self._inert += is_html and name == b"template"
            return self._end_of_raw(at, name) if is_html and name in RAW else at
        if is_html and name in BLOCKS:
            self._end_line()
        self._has_break |= is_html and name == b"br"
        number = len(self._elements)
        element = _Element(name, self._open, len(self._runs), space, attributes)
        element.end = number + 1
        element.block = number if (is_html and name in BLOCKS) or self._open < 0 else self._elements[self._open].block
        self._elements.append(element)
        if is_html and name in VOID:
            if name == b"img" and attributes.get(b"alt"):
                self._add_run(attributes[b"alt"], number, is_alt=True)
                element.run_end = len(self._runs)
            return at
        self._count(element, 1)
        self._open = number
        if not is_html or name not in RAW:
            return at
        end = self._end_of_raw(at, name)
        element.content = self._page[at:end]
        if name not in UNSEEN and end > at:
            self._add_text(element.content)
        return end

    def _read_attributes(self, at: int) -> tuple[dict[bytes, bytes], int]:
        page = self._page
        found: dict[bytes, bytes] = {}
        while page[at : at + 1] not in {b">", b""}:
            match = ATTRIBUTE.match(page, at)
            if match is None or match.end() == at:
                at += 1
                continue
            if match[1] != b"/":
                found.setdefault(match[1].lower(), _unescape(match[2] or b""))
            at = match.end()
        return found, min(at + 1, len(page))

    def _end_of_raw(self, at: int, name: bytes) -> int:
        found = self._page.find(b"</" + name + b">", at)
        return len(self._page) if found < 0 else found

    def _read_end(self, at: int) -> int:
        close = self._page.find(b">", at + 2)
        if close < 0:
            return len(self._page)
        name = self._page[at + 2 : close].lower()
        if self._inert > 1 or (self._inert and name != b"template"):
            self._inert -= name == b"template"
        elif self._open >= 0 and name and self._elements[self._open].tag == name:
            self._close()
        return close + 1

    def _close(self) -> None:
        element = self._elements[self._open]
        if not element.space and element.tag in BLOCKS:
            self._end_line()
        self._count(element, -1)
        element.end, element.run_end = len(self._elements), len(self._runs)
        self._open = element.parent

    def _count(self, element: _Element, by: int) -> None:
        name, is_html = element.tag, not element.space
        self._depth["unseen"] += by * (is_html and name in UNSEEN)
        self._depth["control"] += by * (name in CONTROLS)
        self._depth["link"] += by * (name == b"a")
        self._depth["pre"] += by * (name == b"pre")
        self._inert += by * (is_html and name == b"template")

    # queries

    def __len__(self) -> int:
        return len(self._elements)

    def _at(self, number: int) -> _Element:
        if number < 0:
            raise IndexError(f"there is no element {number}")
        return self._elements[number]

    def reopened(self) -> None:
        return None

    def tag(self, number: int, /) -> str:
        return self._at(number).tag.decode()

    def tags(self, *names: str) -> list[int]:
        wanted = {name.encode() for name in names}
        return [number for number, element in enumerate(self._elements) if element.tag in wanted]

    def parent(self, number: int, /) -> int:
        return self._at(number).parent

    def end(self, number: int, /) -> int:
        return self._at(number).end

    def block(self, number: int, /) -> int:
        return self._at(number).block

    def having(self, *names: str) -> list[int]:
        wanted = {name.encode() for name in names}
        return [number for number, element in enumerate(self._elements) if not wanted.isdisjoint(element.attributes)]

    def find(self, names: tuple[str, ...], words: tuple[str, ...], /) -> list[int]:
        wanted = re.compile(b"|".join(re.escape(word.encode()) for word in words if word) or b"(?!)", re.IGNORECASE)
        keys = [name.encode() for name in names]
        return [
            number
            for number, element in enumerate(self._elements)
            if any(wanted.search(element.attributes[key]) for key in keys if key in element.attributes)
        ]

    def get(self, number: int, name: str, /) -> str | None:
        value = self._at(number).attributes.get(name.encode())
        return None if value is None else value.decode()

    def attributes(self, number: int, /) -> dict[str, str]:
        given = self._at(number).attributes
        return {name.decode(): value.decode() for name, value in given.items()}

    def column(self, numbers: list[int], name: str, /) -> list[str | None]:
        return [self.get(number, name) for number in numbers]

    def rows(self, numbers: list[int], names: tuple[str, ...], /) -> list[tuple[str | None, ...]]:
        return [tuple(self.get(number, name) for name in names) for number in numbers]

    def pictures(
        self,
        sets: tuple[str, ...],
        lazy: tuple[str, ...],
        words: tuple[str, ...],
        _clean: object,
        most: int,
        with_styles: bool,
        /,
    ) -> list[tuple[int, str, str, bool, str, int | None, int | None]]:
        from forager.parsing.images import images_in_python

        return images_in_python(self, sets, lazy, words, most, with_styles=with_styles)

    def links(
        self, _clean_href: object, _clean_anchor: object, longest: int, most: int, /
    ) -> tuple[list[str], list[str], list[str]]:
        from forager.parsing.links import links_in_python

        return links_in_python(self, longest, most)

    def raw(self, number: int, /) -> str:
        element = self._at(number)
        if self._is_raw(number):
            return element.content.decode()
        runs = self._runs[element.run_first : element.run_end]
        return b"".join(run.text for run in runs if not run.is_alt and not run.is_gap).decode()

    def _is_raw(self, number: int) -> bool:
        return not self._elements[number].space and self._elements[number].tag in RAW

    def text(self, number: int, /) -> str:
        return self._visible_text(self._at(number))

    def texts(self, numbers: list[int], longest: int, /) -> list[str]:
        looked_at = LOOKED_AT + 16 * longest
        return [self._visible_text(self._at(number), True, MOST_RUNS, looked_at)[:longest] for number in numbers]

    def _visible_text(
        self, element: _Element, with_alt: bool = False, most: int | None = None, looked_at: int | None = None
    ) -> str:
        pieces: list[bytes] = []
        is_after_alt, left = False, len(self._page) if looked_at is None else looked_at
        for run in self._runs[element.run_first : element.run_end][:most]:
            if not run.is_unseen and (with_alt or not run.is_alt):
                is_apart = run.begins_line or run.has_space or run.is_alt or is_after_alt
                text = run.text if len(run.text) <= left else run.text[:left].decode(errors="ignore").encode()
                pieces.append(b" " + text if is_apart else text)
                is_after_alt = run.is_alt
                if len(run.text) > left:
                    break
                left -= len(text)
        return _collapse(b"".join(pieces)).decode()

    def weights(self, number: int, /) -> tuple[int, int, int]:
        element = self._at(number)
        first, last = element.run_first - 1, element.run_end - 1
        total, links, prose = (
            (self._runs[last].total, self._runs[last].links, self._prose[last]) if last >= 0 else (0,) * 3
        )
        if first < 0:
            return total, links, prose
        return total - self._runs[first].total, links - self._runs[first].links, prose - self._prose[first]

    def lines(self, number: int, without: list[int], /) -> str:
        lines: list[bytes] = []
        for run, is_new in self._walk(number, without):
            if is_new or run.begins_line or not lines:
                lines.append(run.text)
            else:
                lines[-1] += b" " + run.text if run.has_space else run.text
        return b"\n".join(filter(None, map(_collapse, lines))).decode()

    def blocks(self, number: int, without: list[int], /) -> list[tuple[int, str, int]]:
        found: list[tuple[int, str, int]] = []
        block, lines, links = -1, [b""], 0

        def finish() -> None:
            if text := b"\n".join(filter(None, map(_collapse, lines))):
                found.append((block, text.decode(), links))

        for run, is_new in self._walk(number, without):
            owner = self._elements[run.owner].block
            if owner != block or is_new:
                finish()
                block, lines, links = owner, [b""], 0
            before = _length(lines)
            if run.begins_line and lines[-1].strip(GAP):
                lines.append(run.text)
            else:
                lines[-1] += b" " + run.text if run.has_space else run.text
            links += run.is_link and _length(lines) - before
        finish()
        return found

    def numbers(self, number: int, longest: int, /) -> list[tuple[int, str]]:
        element = self._at(number)
        return [
            (run.owner, _collapse(run.text).decode())
            for run in self._runs[element.run_first : element.run_end]
            if not run.is_unseen and not run.is_alt and len(run.text) <= longest and re.search(rb"\d", run.text)
        ]

    def runs(self, number: int, most: int, /) -> list[tuple[int, str]]:
        element, found, left = self._at(number), [], most
        for run in self._runs[element.run_first : element.run_end]:
            if left <= 0:
                break
            if not run.is_unseen and not run.is_alt:
                left -= len(run.text)
                found.append((run.owner, _collapse(run.text).decode()))
        return found

    def stream(self, number: int, without: list[int], tags: tuple[str, ...], /) -> "list[Event]":
        around, wanted, cut = self._at(number), {tag.encode(): tag for tag in tags}, set(without)
        events: list[Event] = []
        opened: list[_Element] = []
        run = around.run_first

        def add_runs(end: int) -> None:
            nonlocal run
            events.extend(
                (" " if each.has_space else "", each.text.decode())
                for each in self._runs[run:end]
                if each.is_gap or not (each.is_unseen or each.is_control or each.is_alt)
            )
            run = max(run, end)

        def close(at: int) -> None:
            while opened and opened[-1].end <= at:
                element = opened.pop()
                add_runs(element.run_end)
                events.append((wanted[element.tag], None))

        at = number + 1
        while at < around.end:
            element = self._elements[at]
            close(at)
            add_runs(element.run_first)
            if at in cut or (not element.space and element.tag in UNSEEN) or element.tag in CONTROLS:
                run = max(run, element.run_end)
                events.append(("cut", at))
                at = element.end
                continue
            if not element.space and element.tag in wanted:
                events.append((wanted[element.tag], at))
                if element.tag not in VOID:
                    opened.append(element)
            at += 1
        close(around.end)
        add_runs(around.run_end)
        return events

    def _walk(self, number: int, without: list[int]) -> list[tuple[_Run, bool]]:
        """Returns the remaining runs, each with whether something was skipped before it."""
        element = self._at(number)
        spans = [(cut.run_first, cut.run_end) for cut in map(self._at, without)]
        left, at, is_new, next_span = [], element.run_first, False, 0
        while at < element.run_end:
            while next_span < len(spans) and spans[next_span][0] <= at:
                if spans[next_span][1] > at:
                    at, is_new = spans[next_span][1], True
                next_span += 1
            if at >= element.run_end:
                break
            run = self._runs[at]
            at += 1
            if run.is_unseen or run.is_control or run.is_alt:
                is_new |= run.is_control or run.begins_line
            else:
                left.append((run, is_new))
                is_new = False
        return left

    def above(self, number: int, /) -> list[int]:
        found = []
        while (number := self._at(number).parent) >= 0:
            found.append(number)
        return found

    def children(self, number: int, /) -> "list[Child]":
        found, at, end = [], number + 1, self._at(number).end
        while at < end:
            weights = self.weights(at)
            if weights[0]:
                found.append((at, self._at(at).end, *weights))
            at = self._at(at).end
        return found

    def next_marked(self, number: int, /) -> "Marked | None":
        if number < 0:
            raise IndexError(f"there is no element {number}")
        rows = map(self._mark, range(number, len(self._elements)))
        return next((row for row in rows if row[0] or row[1] or row[4]), None)

    def saying(self, verdict: int, /) -> "list[Marked]":
        rows = map(self._mark, range(len(self._elements)))
        return [row for row in rows if row[-1] and row[4] == verdict]

    def _mark(self, number: int) -> "Marked":
        element, weights = self._elements[number], self.weights(number)
        tag = element.tag.decode()
        is_hidden = bool(weights[0]) and _is_hidden(element.attributes)
        is_judged = weights[0] and (is_hidden or tag in AROUND_TAGS or tag in NAMED_TAGS)
        verdict = classify_names(*(self.get(number, each) for each in ("class", "id", "role"))) if is_judged else 0
        return (tag if tag in AROUND_TAGS else "", is_hidden, number, element.end, int(verdict), *weights)

    def linked(self, number: int, least: int, share: float, /) -> list[int]:
        found = []
        for each in range(number + 1, self._at(number).end):
            text, links, _ = self.weights(each)
            if self.tag(each) in {*AROUND_TAGS, *NAMED_TAGS} and text >= least and links >= text * share:
                found.append(each)
        return found


def _is_hidden(attributes: dict[bytes, bytes]) -> bool:
    if b"hidden" in attributes or attributes.get(b"aria-hidden") == b"true":
        return True
    style = attributes.get(b"style", b"").decode()[:LONGEST_NAMES].encode()
    return any(hiding in style.translate(None, GAP).lower() for hiding in (b"display:none", b"visibility:hidden"))


def _length(lines: list[bytes]) -> int:
    return len(b"\n".join(filter(None, map(_collapse, lines))))


def _collapse(text: bytes) -> bytes:
    return GAPS.sub(b" ", text).strip(b" ")


def _unescape(text: bytes) -> bytes:
    if b"&" in text:
        for escape, meaning in ESCAPES:
            text = text.replace(escape, meaning)
    return text
