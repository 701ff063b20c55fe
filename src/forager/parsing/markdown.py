"""Writes the main text of a page as Markdown: CommonMark with the tables and deletions of GitHub's.

The tree gives a stream of tags and texts (`Tree.stream`); blocks go to `markdown_blocks.py`, what is inside of one to
`markdown_inline.py`. What the page wrote is text or a link with an absolute address, never markup: no HTML, no script
gets through. The same page always gives the same Markdown.
"""

import re
from collections.abc import Sequence
from contextlib import suppress

from ada_url import join_url

from forager.parsing.clean import strip_hidden
from forager.parsing.images import LAZY, SETS, SMALLEST, is_icon_or_pixel
from forager.parsing.links import clean_href
from forager.parsing.markdown_blocks import Blocks, FullError
from forager.parsing.markdown_inline import KINDS, Inline
from forager.parsing.markdown_tables import Cell, find_data_tables, format_table
from forager.parsing.tree_types import Event, Tree

HEADINGS = {f"h{level}": level for level in range(1, 7)}
LISTS = frozenset({"ul", "ol", "menu", "dir", "dl"})
ITEMS = frozenset({"li", "dd"})
BLOCKS = (
    *("p", "div", "section", "article", "main", "header", "footer", "nav", "aside", "address", "hgroup", "search"),
    *("figure", "figcaption", "details", "summary", "form", "fieldset", "legend", "dialog", "center", "body", "html"),
    *("dt", "table", "caption", "thead", "tbody", "tfoot", "tr", "td", "th", "xmp", "plaintext"),
)
PLAIN_BLOCKS = frozenset(BLOCKS) - {"table"}
"""They do nothing but part paragraphs."""
TAGS = (*KINDS, *HEADINGS, *LISTS, *ITEMS, *BLOCKS, "blockquote", "pre", "br", "hr", "img")
SCHEMES = ("https://", "http://", "mailto:", "tel:")
LONGEST_URL = 2000
NOWHERE = "about:blank"
"""Of a file whose address is not known: only its absolute links are links."""
LONGEST_ALT = 500
MOST_IMAGES = 2000
LANGUAGE = re.compile(r"(?:^|[\s;])(?:language|lang|highlight-source|highlight|brush)[-:]\s*([A-Za-z0-9+#_.-]{1,20})")
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
NUMBERS = re.compile(r"[\d\s.:]+\Z")


def render(tree: Tree, region: int, cut: list[int], base_url: str) -> str:
    """Returns the content of an element as Markdown, without the elements in `cut`, which is sorted."""
    events: list[Event] = tree.stream(region, cut, TAGS)
    if (tag := tree.tag(region)) in TAGS:
        events = [(tag, region), *events, (tag, None)]
    writer = _Writer(tree, events, base_url)
    with suppress(FullError):
        writer.write()
    return _clean(str(writer.blocks))


def render_text(text: str) -> str:
    """Returns plain text, in which each line is a paragraph, as Markdown."""
    blocks, inline = Blocks(), Inline(lambda _: "")
    with suppress(FullError):
        for line in text.split("\n"):
            inline.add_text(line)
            for block in inline.take():
                blocks.add(block)
    return _clean(str(blocks))


def _clean(markdown: str) -> str:
    """Removes what is not shown, and what would move the cursor of a terminal."""
    return strip_hidden(CONTROLS.sub("", markdown) if CONTROLS.search(markdown) else markdown)


class _Writer:
    def __init__(self, tree: Tree, events: Sequence[Event], base_url: str) -> None:
        self._tree, self._events, self._base_url = tree, events, base_url
        self.blocks = Blocks()
        self._inline = Inline(self._resolve)
        self._level = 0
        """Of the heading that is open."""
        self._pushed: list[bool] = []
        """For each open list, item and quote, whether it is written as one."""
        tables = [value for name, value in events if name == "table" and isinstance(value, int)]
        self._tables = find_data_tables(events, tree.column(tables, "role")) if tables else {}
        self._pictures: dict[int, tuple[str, str]] | None = None

    def write(self) -> None:
        events, inline = self._events, self._inline
        at, size = 0, len(self._events)
        while at < size:
            name, value = events[at]
            if not name or name == " ":
                assert isinstance(value, str)
                inline.add_text(name + value)
            elif name in PLAIN_BLOCKS:
                if self._level:
                    inline.add(" ")
                elif not inline.is_empty:
                    self._end_paragraph()
            elif name in KINDS:
                self._write_span(name, value)
            elif name == "pre" and value is not None:
                at = self._write_code(at)
            elif name == "table" and at in self._tables:
                at = self._write_table(at)
            elif not self._write_inline(name, value):
                self._write_block(name, value)
            at += 1
        self._end_paragraph()

    # the inside of blocks

    def _write_inline(self, name: str, value: str | int | None) -> bool:
        """Whether it was something inside a block."""
        inline = self._inline
        if name in KINDS:
            self._write_span(name, value)
        elif name == "br":
            inline.break_line()
        elif name == "img":
            assert isinstance(value, int)
            self._write_image(value)
        elif self._level and name not in HEADINGS:
            inline.add(" ")
        elif name == "cut":
            assert isinstance(value, int)
            if self._tree.block(value) == value:
                self._end_paragraph()
            elif self._tree.weights(value)[0]:
                inline.add(" ")
        else:
            return False
        return True

    def _write_span(self, name: str, value: str | int | None) -> None:
        if isinstance(value, int):
            self._inline.open(name, self._tree.get(value, "href") if name == "a" else None)
        else:
            self._inline.close()

    def _write_image(self, number: int) -> None:
        if self._pictures is None:
            self._pictures = _find_pictures(self._tree)
        alt, src = self._pictures.get(number, ("", ""))
        if src and (url := self._resolve(src)).startswith("http"):
            self._inline.add_image(alt, url)

    def _resolve(self, href: str) -> str:
        """Returns the absolute address of a link; empty where it is none to follow."""
        href = clean_href_text(href)
        if not href or len(href) > LONGEST_URL:
            return ""
        try:
            url: str = join_url(self._base_url or NOWHERE, href)
        except ValueError:
            return ""
        return url if url.startswith(SCHEMES) and len(url) <= LONGEST_URL else ""

    # blocks

    def _write_block(self, name: str, value: str | int | None) -> None:
        if name in HEADINGS:
            self._write_heading(HEADINGS[name], is_begin=value is not None)
            return
        self._end_paragraph()
        if name == "hr":
            self.blocks.add_rule()
        elif name in LISTS or name in ITEMS or name == "blockquote":
            if isinstance(value, int):
                self._pushed.append(self._open(name, value))
            elif self._pushed and self._pushed.pop():
                self.blocks.close()

    def _open(self, name: str, number: int) -> bool:
        if name == "blockquote":
            return self.blocks.open_quote()
        if name in ITEMS:
            return self.blocks.open_item(_number(self._tree.get(number, "value")))
        if name == "ol":
            start = _number(self._tree.get(number, "start"))
            return self.blocks.open_list(is_ordered=True, start=1 if start is None else start)
        return self.blocks.open_list(is_ordered=False, is_tight=name == "dl")

    def _write_heading(self, level: int, *, is_begin: bool) -> None:
        if is_begin:
            self._end_paragraph()
            self._level, self._inline.is_heading = level, True
        elif self._level:
            text = self._inline.take_line()
            self.blocks.add_heading(self._level, text)
            self._level, self._inline.is_heading = 0, False

    def _end_paragraph(self) -> None:
        if not self._inline.is_empty:
            for paragraph in self._inline.take():
                self.blocks.add(paragraph)

    def _write_code(self, at: int) -> int:
        """Writes a `pre` and returns where it ends."""
        number = self._events[at][1]
        assert isinstance(number, int)
        self._end_paragraph()
        parts: list[str] = []
        depth = 0
        for place in range(at, len(self._events)):
            name, value = self._events[place]
            if not name or name == " ":
                parts.append(str(value))
            elif name == "br":
                parts.append("\n")
            elif name == "pre":
                depth += 1 if value is not None else -1
                if not depth:
                    break
            elif name in {"div", "p", "li", "tr"} and parts and not parts[-1].endswith("\n"):
                parts.append("\n")
        code = "".join(parts)
        if not (NUMBERS.match(code) and self._is_in_table(number)):  # the numbers of the lines of the code beside it
            self.blocks.add_code(code, self._language(number))
        return place

    def _is_in_table(self, number: int) -> bool:
        return any(self._tree.tag(above) == "td" for above in self._tree.above(number)[:4])

    def _language(self, number: int) -> str:
        """Returns the language of a block of code, as its class or that of its first child or of its parents says."""
        inside = [number + 1] if number + 1 < self._tree.end(number) else []
        for each in (number, *inside, *self._tree.above(number)[:2]):
            attributes = self._tree.get(each, "class"), self._tree.get(each, "data-lang")
            if attributes[1] and LANGUAGE.match(f"lang-{attributes[1]}"):
                return attributes[1][:20].split()[0].lower()
            if attributes[0] and (found := LANGUAGE.search(attributes[0][:200])):
                return found[1].lower()
        return ""

    def _write_table(self, at: int) -> int:
        """Writes a table of data and returns where it ends."""
        end, rows = self._tables[at], list[list[Cell]]()
        self._end_paragraph()
        is_cell = False
        for name, value in self._events[at + 1 : end]:
            if not name or name == " ":
                self._inline.add_text(f"{name}{value}")
            elif name in {"td", "th", "caption"}:
                if isinstance(value, int):
                    self._end_paragraph()
                    is_cell = name != "caption"
                    if is_cell:
                        rows = rows or [[]]
                        rows[-1].append(self._cell(name, value))
                elif is_cell:
                    rows[-1][-1].text = self._inline.take_line().replace("|", "\\|")
                    is_cell = False
                else:
                    self._end_paragraph()
            elif name == "tr":
                if value is not None:
                    rows.append([])
            elif name == "br" or not self._write_inline(name, value):
                self._inline.add(" ")
        if table := format_table(rows):
            self.blocks.add(table)
        return end

    def _cell(self, name: str, number: int) -> Cell:
        columns, rows = (_number(self._tree.get(number, span)) for span in ("colspan", "rowspan"))
        return Cell("", name == "th", max(columns or 1, 1), max(rows or 1, 1))


def clean_href_text(href: str) -> str:
    """Trims a URL as browsers do. Fragments and addresses of mail stay, which lead to no other page."""
    return href.strip().replace("\n", "").replace("\t", "").replace("\r", "")


def _number(text: str | None) -> int | None:
    """Parses a small number."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) <= 5 else None


def _find_pictures(tree: Tree) -> dict[int, tuple[str, str]]:
    """Returns the alternative text and widest source of each image that is neither an icon nor a tracking pixel."""
    found = {}
    for number, _, src, _, alt, width, height in tree.pictures(SETS, LAZY, (), clean_href, MOST_IMAGES, False):
        is_tiny = any(size is not None and size <= SMALLEST for size in (width, height))
        if not is_tiny and not is_icon_or_pixel(src):
            found[number] = (alt[:LONGEST_ALT], src)
    return found
