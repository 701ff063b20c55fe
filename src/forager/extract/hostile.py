"""Could this page stall the parser? Decided from the bytes alone, before Lexbor sees them: its calls know no timeout.

Measured: attributes of one tag and open elements cost the square of their number, every block opens again what
formatting was left open before it (50 KB of `<b a=1>` and `<p>x` became 5 GB of nodes), a text that is interrupted is
copied (`x<input type=hidden>` in a table: 1.4 GB from 780 KB), and a node costs some 230 bytes. So one linear pass
follows tags as a tree builder does, roughly, and adds up what they would cost. Comments and raw text are skipped as the
tokenizer skips them. Each budget below was measured to stay under half a second and 150 MB; real pages use a few
percent of them. A page beyond is read the sanitising way (`flatten`).

The pass errs towards too much: an end tag it cannot place closes nothing. Where it errs all the same, the time limit of
the parser process ends the page, which then is read the sanitising way, too.
"""

import re
from dataclasses import dataclass, field
from operator import gt

from forager.extract import compiled
from forager.extract.tree import Tree

HARMLESS_BYTES = 4096
"""Too short for any of it to matter."""
ATTRIBUTE_WORK = 200_000_000
"""Sum over all tags of the squares of their numbers of attributes; 0.3 s."""
DEPTH_WORK = 50_000_000
"""Sum over all tags of how many elements are open there; 0.15 s."""
CLONE_WORK = 200_000
"""Sum over all tags of the formatting elements that are open there, and over blocks and ends, with their attributes, of
those that another end tag closed: each may open these again; 100 MB."""
NODES = 600_000
"""Elements, attributes, texts and comments; 140 MB."""
TEXT_WORK = 200_000_000
"""Bytes of text that are copied because a tag without effect came between two parts of one text; 70 MB."""
FOREIGN_STEP = 16
"""What an end tag costs for each open element of a drawing or a formula, compared with other elements."""
MOST_BLOCKS = 7
"""Special elements inside a formatting element that its end tag still closes for certain."""
ALIKE = 3
"""Formatting elements with equal tags that stay open; the parser forgets older ones."""
FEW_LINKS = 300
"""Nested or not, so many are read soon."""

VOID, RAW, FORMATTING, SPECIAL, SCOPE, BLOCK, TABLE, MARKER, BREAKOUT, SVG_POINT, MATH_POINT, CLOSES_P, IN_TABLE = (
    1 << n for n in range(13)
)
"""What the tree builder does with an element of a name."""


def _table() -> dict[bytes, int]:
    lists = {
        VOID: "area base basefont bgsound br col embed frame hr image img input keygen link meta param source track "
        "wbr",
        RAW: "iframe noembed noframes plaintext script style textarea title xmp",
        FORMATTING: "a b big code em font i nobr s small strike strong tt u",
        SPECIAL: "address applet area article aside base basefont bgsound blockquote body br button caption center col "
        "colgroup dd details dir div dl dt embed fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 "
        "h6 head header hgroup hr html iframe img input keygen li link listing main marquee menu meta nav noembed "
        "noframes noscript object ol p param plaintext pre script search section select source style summary table "
        "tbody td template textarea tfoot th thead title tr track ul wbr xmp",
        SCOPE: "applet caption html marquee object table td template th "
        "annotation-xml desc foreignobject mi mn mo ms mtext title",
        BLOCK: "address applet article aside blockquote button caption center dd details dialog dir div dl dt fieldset "
        "figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup li listing main marquee menu nav object ol p "
        "pre search section select summary table tbody td template tfoot th thead tr ul",
        TABLE: "caption table tbody td template tfoot th thead tr",
        MARKER: "applet caption marquee object td template th",
        BREAKOUT: "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li "
        "listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var",
        SVG_POINT: "desc foreignobject title",
        MATH_POINT: "annotation-xml mi mn mo ms mtext",
        CLOSES_P: "address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer "
        "form h1 h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section summary ul "
        "xmp dd dt table",
        IN_TABLE: "caption col colgroup tbody td tfoot th thead tr",
    }
    table: dict[bytes, int] = {}
    for flag, names in lists.items():
        for name in names.encode().split():
            table[name] = table.get(name, 0) | flag
    return table


NAMES = _table()
ITEMS = frozenset({b"li"})
TERMS = frozenset({b"dd", b"dt"})
CELLS = frozenset({b"td", b"th"})
ROWS = frozenset({b"tr"})
ROW_GROUPS = frozenset({b"tbody", b"tfoot", b"thead"})
TABLES = frozenset({b"table", b"template"})
LISTS = frozenset({b"ol", b"ul"})
PARAGRAPHS = frozenset({b"p"})
BUTTONS = frozenset({b"button"})
OPTIONS = frozenset({b"option"})
HEADINGS = frozenset({b"h1", b"h2", b"h3", b"h4", b"h5", b"h6"})
NOT_PUSHED = frozenset({b"html", b"head", b"body", b"frame"})
NO_PLACE_FOR_TEXT = frozenset({b"table", b"tbody", b"tfoot", b"thead", b"tr"})
"""What is written there comes before the table."""
WHITE_SPACE = b" \t\n\f\r"
SEEN_THROUGH = frozenset({b"address", b"div", b"p"})
"""Special elements that a list item ends with the one before it."""
NONE: frozenset[bytes] = frozenset()

TAG = re.compile(rb"<(/?)([a-zA-Z][^\t\n\f\r />]*+)")
ATTRIBUTE = re.compile(
    rb"[\t\n\f\r /]*+[^\t\n\f\r />][^\t\n\f\r />=]*+"
    rb"""(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^\t\n\f\r >]*+))?+"""
)
GAP = re.compile(rb"[\t\n\f\r /]*+")
SCRIPT_PART = re.compile(rb"<!(?=--)|-->|<(/?)script(?=[\t\n\f\r />])", re.IGNORECASE)
RAW_END = {
    name: re.compile(rb"</%b(?=[\t\n\f\r />])" % name, re.IGNORECASE)
    for name, flags in NAMES.items()
    if flags & RAW and name not in {b"script", b"plaintext"}
}


Limits = tuple[int, int, int, int, int]
LIMITS: Limits = (ATTRIBUTE_WORK, DEPTH_WORK, CLONE_WORK, NODES, TEXT_WORK)


def may_stall(page: bytes) -> bool:
    if len(page) <= HARMLESS_BYTES:
        return False
    if compiled.texts is not None:
        return bool(compiled.texts.overload(page, LIMITS))
    return bool(overload_in_python(page, LIMITS))


def nests_links(tree: Tree) -> bool:
    """Many links inside of links: in drawings, formulas, objects and cells of tables nothing closes the outer one, and
    each is read with all that is inside it. 220 KB of them took 17 s, with some text in each several minutes. The tree
    is asked: to count "<a" in the bytes takes ten times as long."""
    return tree.count("a") > FEW_LINKS and tree.css_first("a a") is not None


def overload_in_python(page: bytes, limits: Limits) -> int:
    """Returns 0, or which of the limits the page exceeds first, counted from 1."""
    return _Pass(page, limits).run()


@dataclass(slots=True)
class _Open:
    """An open element."""

    name: bytes
    flags: int
    foreign: int
    """Part of a drawing or a formula, where other rules hold; then the flag of the elements that hold HTML again."""


@dataclass(slots=True)
class _Formatting:
    """A formatting element that no end tag has closed; without a name it marks where older ones are out of reach."""

    name: bytes
    tag: bytes
    weight: int
    place: int
    """Among the open elements, or -1 where another end tag closed it: then it is opened again and again."""


@dataclass(slots=True)
class _Pass:
    page: bytes
    limits: Limits
    stack: list[_Open] = field(default_factory=list)
    formatting: list[_Formatting] = field(default_factory=list)
    lost: int = 0
    """Weight of the formatting elements that are to be opened again."""
    open_formatting: int = 0
    unsure: int = 0
    """Open elements in which a raw text may be none."""
    tables: int = 0
    """Open ones, and templates: elsewhere cells and rows are no elements."""
    templates: int = 0
    has_form: bool = False
    has_changed: bool = False
    """Whether the tag at hand had an effect on the tree."""
    is_cut: bool = False
    """Whether something came between two parts of one text."""
    text: int = 0
    text_before_table: int = 0
    """Bytes of the text at hand, and of the one that is moved out of tables."""
    work: list[int] = field(default_factory=lambda: [0, 0, 0, 0, 0])
    merged: dict[bytes, int] = field(default_factory=lambda: {b"html": 0, b"body": 0})
    """Attributes of repeated tags of these go to the first."""

    def run(self) -> int:
        page, at, text_at = self.page, 0, 0
        while (at := page.find(b"<", at)) >= 0:
            if at > text_at:
                self._add_text(text_at, at)
            tag = TAG.match(page, at)
            if tag is None:
                at = self._skip(at)
            else:
                end, attributes, is_closed = _read_attributes(page, tag.end())
                name = tag[2].lower()
                self.work[0] += attributes * attributes
                self.work[1] += len(self.stack)
                is_block = tag[1] or NAMES.get(name, 0) & (BLOCK | CLOSES_P)
                self.work[2] += self.open_formatting + (self.lost if is_block else 0)
                self.work[3] += 2 + attributes
                self.has_changed = False
                if tag[1]:
                    self._end(name)
                elif self._start(name, attributes, is_closed, page[at:end]):
                    end = _skip_raw(page, end, name)
                at = end
                self.is_cut = self.is_cut or self.has_changed or attributes > 0
                if self.has_changed:
                    self.text = 0
            text_at = at
            if any(map(gt, self.work, self.limits)):
                return 1 + list(map(gt, self.work, self.limits)).index(True)
        return 0

    def _add_text(self, start: int, end: int) -> None:
        if self.stack and self.stack[-1].name in NO_PLACE_FOR_TEXT and not self.stack[-1].foreign:
            if self.page[start:end].strip(WHITE_SPACE):
                self.text_before_table += end - start
                self.work[4] += self.text_before_table
            return
        self.text += end - start
        if self.is_cut:
            self.work[4] += self.text
        self.is_cut = False

    def _skip(self, at: int) -> int:
        """Past a comment, a declaration, or a "<" that is text."""
        page = self.page
        if page.startswith(b"<!--", at):
            self.work[3] += 1
            end = at + 4
            while (end := page.find(b">", end)) >= 0:
                if page.endswith(b"--", at + 2, end) or page.endswith(b"--!", at + 4, end):  # `<!-->` is whole
                    return end + 1
                end += 1
            return len(page)
        if page.startswith((b"<!", b"<?", b"</"), at):
            self.work[3] += 1
            if page.startswith(b"<![CDATA[", at) and self._is_foreign():
                end = page.find(b"]]>", at + 9)
                return end + 3 if end >= 0 else len(page)
            end = page.find(b">", at + 2)
            return end + 1 if end >= 0 else len(page)
        return at + 1

    def _is_foreign(self) -> bool:
        return bool(self.stack) and _is_outside(self.stack[-1])

    def _start(self, name: bytes, attributes: int, is_closed: bool, tag: bytes) -> bool:
        """Returns whether raw text follows."""
        flags = NAMES.get(name, 0)
        if flags & BREAKOUT:
            self._leave_foreign()
        if self._is_foreign() or name in {b"svg", b"math"}:
            self.has_changed = True
            if not is_closed:
                point = SVG_POINT if name == b"svg" else MATH_POINT
                self.stack.append(_Open(name, flags, self.stack[-1].foreign if self._is_foreign() else point))
                self.unsure += name == b"annotation-xml"
            return False
        if (flags & IN_TABLE and not self.tables) or (name == b"form" and self.has_form and not self.templates):
            return False
        if name in NOT_PUSHED:
            self._merge(name, attributes)
            return False
        self._imply_ends(name, flags)
        self.has_changed = self.has_changed or name != b"frameset"
        if flags & RAW:
            return not self.unsure
        if not flags & VOID:
            self._push(name, flags, tag, attributes)
        return False

    def _leave_foreign(self) -> None:
        place = len(self.stack)
        while place and _is_outside(self.stack[place - 1]):
            place -= 1
        if place < len(self.stack):
            self._pop_to(place)

    def _merge(self, name: bytes, attributes: int) -> None:
        if name in self.merged:
            self.work[0] += self.merged[name] * attributes
            self.merged[name] += attributes

    def _push(self, name: bytes, flags: int, tag: bytes, attributes: int) -> None:
        if flags & FORMATTING:
            if name in {b"a", b"nobr"}:
                self._end_formatting(name)
            self._add_formatting(name, tag, 1 + attributes)
        if flags & MARKER:
            self.formatting.append(_Formatting(b"", b"", 0, len(self.stack)))
        self.has_form = self.has_form or name == b"form"
        self.unsure += name == b"select"
        self.templates += name == b"template"
        if not self.tables:
            self.text_before_table = 0
        self.tables += name in TABLES
        self.stack.append(_Open(name, flags, 0))

    def _imply_ends(self, name: bytes, flags: int) -> None:
        """Closes what the start of an element ends."""
        for items in (ITEMS, TERMS):
            if name in items:
                self._close_nearest(items, NONE, SPECIAL, SEEN_THROUGH)
        if flags & CLOSES_P:
            self._close_nearest(PARAGRAPHS, BUTTONS, SCOPE)
        for parts in (CELLS, ROWS, ROW_GROUPS):
            if name in parts and self._is_in_table():
                self._close_nearest(parts, TABLES, 0)
        if name == b"button":
            self._close_nearest(BUTTONS, NONE, SCOPE)
        for alone in (HEADINGS, OPTIONS):
            if name in alone and self.stack and self.stack[-1].name in alone:
                self._pop_to(len(self.stack) - 1)

    def _is_in_table(self) -> bool:
        """Not in a template, which may take cells and rows for nothing."""
        return next((entry.name for entry in reversed(self.stack) if entry.name in TABLES), b"") == b"table"

    def _add_formatting(self, name: bytes, tag: bytes, weight: int) -> None:
        alike = []
        for index in range(len(self.formatting) - 1, -1, -1):
            entry = self.formatting[index]
            if not entry.name:
                break
            if entry.tag == tag:
                alike.append(index)
        if len(alike) >= ALIKE:
            self._forget(alike[-1])
        self.formatting.append(_Formatting(name, tag, weight, len(self.stack)))
        self.open_formatting += 1

    def _forget(self, index: int) -> None:
        entry = self.formatting.pop(index)
        self.lost -= entry.weight if entry.place < 0 else 0
        self.open_formatting -= bool(entry.name)

    def _forget_to_marker(self) -> None:
        while self.formatting:
            is_marker = not self.formatting[-1].name
            self._forget(len(self.formatting) - 1)
            if is_marker:
                return

    def _end(self, name: bytes) -> None:
        flags, stack = NAMES.get(name, 0), self.stack
        place = len(stack)
        while place and stack[place - 1].foreign:
            place -= 1
            self.work[1] += FOREIGN_STEP
            if stack[place].name == name:
                self._pop_to(place)
                return
        if flags & FORMATTING:
            self._end_formatting(name)
        elif name == b"form":
            self._end_form()
        elif name in HEADINGS:
            self._close_nearest(HEADINGS, NONE, SCOPE)
        elif flags & TABLE:
            self._close_nearest(frozenset({name}), TABLES, 0)
        elif flags & BLOCK:
            stops = 0 if name == b"select" else SCOPE
            self._close_nearest(frozenset({name}), LISTS if name == b"li" else NONE, stops)
        else:
            self._close_nearest(frozenset({name}), NONE, SPECIAL | SCOPE)

    def _close_nearest(
        self, names: frozenset[bytes], stops: frozenset[bytes], stop_flags: int, passed: frozenset[bytes] = NONE
    ) -> None:
        """Closes the nearest open element of these names with all inside it, unless something is between."""
        stack = self.stack
        for place in range(len(stack) - 1, -1, -1):
            entry = stack[place]
            if entry.name in names and not entry.foreign:
                self._pop_to(place)
                return
            if (entry.flags & stop_flags and entry.name not in passed) or entry.name in stops:
                return

    def _end_form(self) -> None:
        """Its end tag closes the form alone; what is open inside it stays open."""
        stack, self.has_form = self.stack, False
        for place in range(len(stack) - 1, -1, -1):
            if stack[place].name == b"form":
                self._take_out(place)
                return
            if stack[place].flags & SCOPE:
                return

    def _take_out(self, place: int) -> None:
        self.has_changed = True
        del self.stack[place]
        for other in reversed(self.formatting):
            if other.place > place:
                other.place -= 1
            elif other.place >= 0:
                break

    def _end_formatting(self, name: bytes) -> None:
        """As the adoption agency does: the element is closed, and blocks inside it stay open."""
        index = len(self.formatting) - 1
        while index >= 0 and self.formatting[index].name not in (name, b""):
            index -= 1
        if index < 0 or not self.formatting[index].name:
            self._close_nearest(frozenset({name}), NONE, SPECIAL | SCOPE)
            return
        place = self.formatting[index].place
        if place < 0:
            self._forget(index)
            return
        above = self.stack[place + 1 :]
        blocks = sum(bool(each.flags & SPECIAL) for each in above)
        if blocks > MOST_BLOCKS or any(each.flags & SCOPE for each in above):
            return
        self._forget(index)
        if blocks:
            self.work[3] += 3 * blocks
            self._take_out(place)
        else:
            self._pop_to(place)

    def _pop_to(self, place: int) -> None:
        """Closes all open elements from this one on. Formatting elements among them are to be opened again."""
        self.has_changed = True
        popped = self.stack[place:]
        del self.stack[place:]
        for entry in reversed(popped):
            self.unsure -= entry.name == (b"annotation-xml" if entry.foreign else b"select")
            if entry.foreign:
                continue
            self.templates -= entry.name == b"template"
            self.tables -= entry.name in TABLES
            if entry.flags & MARKER:
                self._forget_to_marker()
        if any(entry.flags & FORMATTING and not entry.foreign for entry in popped):
            for open_again in reversed(self.formatting):
                if open_again.place >= place:
                    open_again.place = -1
                    self.lost += open_again.weight
                elif open_again.place >= 0:
                    break


def _is_outside(entry: _Open) -> bool:
    """Whether what is inside this element is no HTML."""
    return bool(entry.foreign) and not entry.flags & entry.foreign


def _read_attributes(page: bytes, at: int) -> tuple[int, int, bool]:
    """Returns where the tag ends, how many attributes it has, and whether it closes itself."""
    count = 0
    while (attribute := ATTRIBUTE.match(page, at)) is not None:
        count += 1
        at = attribute.end()
    gap = GAP.match(page, at)
    assert gap is not None
    return gap.end() + 1, count, gap[0].endswith(b"/")


def _skip_raw(page: bytes, at: int, name: bytes) -> int:
    """Returns where the end tag of a raw text begins, or the page's end where there is none."""
    if name == b"plaintext":
        return len(page)
    if name != b"script":
        end = RAW_END[name].search(page, at)
        return end.start() if end else len(page)
    escaped = 0
    while part := SCRIPT_PART.search(page, at):
        at = part.end()
        match part[0][:2]:
            case b"<!":
                escaped = max(escaped, 1)
            case b"--":
                escaped = 0
            case b"</" if escaped < 2:
                return part.start()
            case b"</":
                escaped = 1
            case _:
                escaped = 2 if escaped else 0
    return len(page)
