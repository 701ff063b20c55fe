"""Parses PDF files: text, metadata and links, by PDFium. It is C++ code and its input is untrusted, so pages are read
in a parser process (`engine.parser_process`), whose limits end it. Below those, this module stops by itself after
enough pages, characters or time, and marks the result as partial.

PDFium is loaded with the first PDF: loading it takes 0.08 s and 16 MB, and most crawls have few PDFs.
"""

import ctypes
import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, NamedTuple

import orjson

from forager.parsing.clean import collapse
from forager.parsing.dates import EARLIEST, LATEST
from forager.parsing.links import LONGEST_ANCHOR, clean_href
from forager.parsing.models import FoundLink

MOST_PAGES = 2000
MOST_CHARACTERS = 1_000_000
MOST_LINKS = 5000
MOST_LINKS_PER_PAGE = 1000
MOST_CPU_S = 2.0
"""Processor time after which no further page is read: half of what a shared parser process allows."""
LONGEST_META, LONGEST_TITLE = 2000, 300
MOST_HEADINGS, LONGEST_HEADING, LONGEST_HEADINGS = 20, 200, 2000
TITLE_CHARACTERS = 3000
"""Characters of the first page in which its largest letters are looked for."""
LITTLE_TEXT = 10
"""Letters and digits per read page below which the pages are pictures of text: page numbers and stamps alone."""
FORMAT_ERRORS = {4: "encrypted", 5: "encrypted"}
"""PDFium's errors for a missing password and an unknown security handler."""
PDF, ENCRYPTED, BROKEN, PARTIAL, SCANNED = "pdf", "encrypted", "broken_pdf", "partial", "no_text_layer"

DATE = re.compile(
    r"(?:D:)?\s*(\d{4})(?:-?(\d\d))?(?:-?(\d\d))?[T ]?(?:(\d\d))?:?(?:(\d\d))?:?(?:(\d\d))?\s*"
    r"(?:(Z)|([+-])(\d\d)'?:?(\d\d)?'?)?"
)
PLACEHOLDER_TITLE = re.compile(
    r"(?:untitled|unbenannt|sans titre|sin t[ií]tulo|senza titolo|document|dokument|title"
    r"|microsoft (?:word|powerpoint|excel))(?:\s*[-–:]?\s*\S*)?"
    r"|[^\s]+\.(?:docx?|pptx?|xlsx?|odt|rtf|indd|qxd|tex|dvi|ps|pdf|pmd|html?)|\W*",
    re.IGNORECASE,
)
"""Titles that programs write by themselves: no title, or the name of the file the PDF was made of."""
WORD_PREFIX = re.compile(r"microsoft (?:word|powerpoint|excel)\s*-\s*", re.IGNORECASE)
FILE_ENDING = re.compile(r"\.(?:docx?|pptx?|xlsx?)\Z", re.IGNORECASE)
BROKEN_WORD = re.compile("[\ufffe\x02]\\s*")
"""The mark that PDFium writes for a hyphen at the end of a line."""
CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]|[\ud800-\udfff]")


WORD_CHARACTER = re.compile(r"\w")
BARE_HOST = re.compile(r"www\d?\.[^/\s]+\.[a-z]{2,}(?=[/?#:]|\Z)", re.IGNORECASE)
"""An address without its scheme, as people type it into a program that writes PDFs."""
AFTER_ADDRESS = "’”»›“„‘）」』】。，、"
"""Punctuation that ends a sentence or quotation and not the address in it."""


class Pdf(NamedTuple):
    """What is in a PDF. All fields may be empty."""

    text: str = ""
    title: str | None = None
    author: str | None = None
    subject: str | None = None
    keywords: tuple[str, ...] = ()
    language: str | None = None
    created_at: datetime | None = None
    modified_at: datetime | None = None
    headings: str = ""
    """The titles of its outline."""
    pages: int = 0
    links: tuple[FoundLink, ...] = ()
    producer: str | None = None
    flags: tuple[str, ...] = (PDF,)

    def to_json(self) -> bytes:
        """Returns what only PDFs have, in the form of structured data; empty if it could not be opened."""
        if not self.pages:
            return b""
        found = {
            "numberOfPages": self.pages,
            "producer": self.producer,
        }
        properties = {name: value for name, value in found.items() if value is not None}
        return orjson.dumps([{"syntax": "pdf", "types": ["DigitalDocument"], "properties": properties}])

    @property
    def is_partial(self) -> bool:
        return PARTIAL in self.flags


def read_pdf(body: bytes, *, most_cpu_s: float = MOST_CPU_S, most_characters: int = MOST_CHARACTERS) -> Pdf:
    """Parses a PDF. One that needs a password, is damaged or has no text is flagged, and never an error."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError as error:
        return Pdf(flags=(PDF, FORMAT_ERRORS.get(getattr(error, "err_code", None) or 0, BROKEN)))
    try:
        return _read_document(document, _Budget(time.process_time() + most_cpu_s, most_characters))
    finally:
        document.close()


class _Budget:
    """Counts what may still be read of one document."""

    def __init__(self, ends_at: float, characters: int) -> None:
        self._ends_at = ends_at
        self._characters = characters

    def take(self, text: str) -> str:
        """Returns as much of the text as fits."""
        text = text[: self._characters]
        self._characters -= len(text)
        return text

    @property
    def is_spent(self) -> bool:
        return self._characters <= 0 or time.process_time() >= self._ends_at


def _read_document(document: Any, budget: _Budget) -> Pdf:
    count = len(document)
    texts: list[str] = []
    links: dict[str, FoundLink] = {}
    largest, flags = "", [PDF]
    pages_read = 0
    for number in range(min(count, MOST_PAGES)):
        if budget.is_spent:
            break
        with ExitStack() as stack:
            opened = _open_page(document, number, stack)
            if opened is None:
                continue
            page, text_page = opened
            texts.append(budget.take(_clean(text_page.get_text_bounded(errors="ignore"))))
            if not number:
                largest = _find_largest(text_page)
            if len(links) < MOST_LINKS:
                for link in (*_find_annotated(document, page, text_page), *_find_written(text_page)):
                    links.setdefault(link.href, link)
        pages_read += 1
    text = "\n".join(filter(None, texts))
    if pages_read < count:
        flags.append(PARTIAL)
    if pages_read and len(WORD_CHARACTER.findall(text)) < LITTLE_TEXT * pages_read:
        flags.append(SCANNED)
    meta = _read_metadata(document)
    return Pdf(
        text=text,
        title=choose_title(meta.get("Title", ""), largest),
        author=collapse(meta.get("Author"), LONGEST_TITLE),
        subject=collapse(meta.get("Subject"), LONGEST_META),
        keywords=_split_keywords(meta.get("Keywords", "")),
        language=_get_language(document),
        created_at=parse_pdf_date(meta.get("CreationDate", "")),
        modified_at=parse_pdf_date(meta.get("ModDate", "")),
        headings=_read_outline(document),
        pages=count,
        links=tuple(links.values())[:MOST_LINKS],
        producer=collapse(meta.get("Producer"), LONGEST_TITLE),
        flags=tuple(flags),
    )


def _open_page(document: Any, number: int, stack: ExitStack) -> tuple[Any, Any] | None:
    """Returns a page and its text; None for a damaged one."""
    from pypdfium2 import PdfiumError

    try:
        page = document.get_page(number)
        stack.callback(page.close)
        text_page = page.get_textpage()
        stack.callback(text_page.close)
    except PdfiumError:
        return None
    return page, text_page


def choose_title(declared: str, largest: str) -> str | None:
    """Returns the declared title, or the largest words of the first page if a program made the title up."""
    declared = WORD_PREFIX.sub("", collapse(_clean(declared), LONGEST_TITLE) or "")
    stem = FILE_ENDING.sub("", declared)
    if stem != declared and " " in stem:  # "Annual report 2024.docx" is a title, "rep_24_v3.docx" is not
        declared = stem
    if declared and not PLACEHOLDER_TITLE.fullmatch(declared):
        return declared
    return collapse(largest, LONGEST_TITLE) or FILE_ENDING.sub("", declared) or None


def parse_pdf_date(text: str) -> datetime | None:
    """Parses a date such as `D:20240131120000+01'00'` into UTC; one without a time zone is taken as UTC."""
    match = DATE.match(text.strip()[:40])
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part) if part else None for part in match.groups()[:6])
    if year is None or not EARLIEST <= year <= LATEST:
        return None
    _, sign, zone_hours, zone_minutes = match.groups()[6:]
    offset = timedelta(hours=int(zone_hours or 0), minutes=int(zone_minutes or 0))
    try:
        zone = timezone(-offset if sign == "-" else offset)
        return datetime(year, month or 1, day or 1, hour or 0, minute or 0, second or 0, tzinfo=zone).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _clean(text: str) -> str:
    """Joins words that were divided at the end of a line, and removes what PostgreSQL and people cannot read."""
    return CONTROLS.sub("", BROKEN_WORD.sub("", text)).replace("\r\n", "\n").replace("\r", "\n").strip()


def _read_metadata(document: Any) -> dict[str, str]:
    found = document.get_metadata_dict(skip_empty=True)
    return {key: _clean(str(value)[: 4 * LONGEST_META]) for key, value in found.items()}


def _split_keywords(text: str) -> tuple[str, ...]:
    parts = re.split(r"[,;\n]", text[:LONGEST_META])
    return tuple(dict.fromkeys(part.strip()[:100] for part in parts if part.strip()))[:50]


def _get_language(document: Any) -> str | None:
    from pypdfium2 import raw

    return _read_string(lambda buffer, size: raw.FPDFCatalog_GetLanguage(document, buffer, size), raw.FPDF_WCHAR)


def _read_string(call: Callable[[Any, int], int], unit: Any) -> str | None:
    """Returns a string by a function of PDFium that is called twice: for the size in bytes, then for the value."""
    size = call(None, 0)
    if size <= 2 or size > 4 * LONGEST_META:
        return None
    buffer = ctypes.create_string_buffer(size)
    call(ctypes.cast(buffer, ctypes.POINTER(unit)), size)
    return buffer.raw.decode("utf-16-le", "ignore").strip("\0 ") or None


def _read_outline(document: Any) -> str:
    titles: list[str] = []
    for bookmark in document.get_toc(max_depth=3):
        if title := collapse(_clean(bookmark.get_title()[: 4 * LONGEST_HEADING]), LONGEST_HEADING):
            titles.append(title)
        if len(titles) >= MOST_HEADINGS:
            break
    return " ".join(titles)[:LONGEST_HEADINGS]


def _find_largest(text_page: Any) -> str:
    """Returns the words of the first page that are set in its largest letters: its visible title."""
    from pypdfium2 import raw

    count = min(text_page.count_chars(), TITLE_CHARACTERS)
    runs: list[tuple[float, str]] = []
    size, letters = 0.0, ""
    for index in range(count):
        letter = chr(raw.FPDFText_GetUnicode(text_page, index) & 0x10FFFF)
        if letter.isspace() or not letter.isprintable():
            letters += " "
            continue
        now = round(_letter_height(raw, text_page, index), 0)
        if now != size:
            runs.append((size, letters))
            size, letters = now, ""
        letters += letter
    runs.append((size, letters))
    wordy = [(size, text) for size, text in runs if sum(map(str.isalpha, text)) >= 3]
    if len({size for size, _ in wordy}) < 2:
        return ""  # all letters have one size: none of them is a title
    most = max(size for size, _ in wordy)
    return next(text for size, text in wordy if size == most)


def _letter_height(raw: Any, text_page: Any, index: int) -> float:
    """Returns the size of a letter as it is shown: the font size is often 1, scaled by a matrix."""
    matrix = raw.FS_MATRIX()
    size = float(raw.FPDFText_GetFontSize(text_page, index))
    if raw.FPDFText_GetMatrix(text_page, index, matrix):
        size *= max(abs(matrix.b), abs(matrix.d)) or 1.0
    return size


def _find_annotated(document: Any, page: Any, text_page: Any) -> Iterator[FoundLink]:
    """Yields the links that are laid over the page, each with the text below it."""
    from pypdfium2 import raw

    position, link = ctypes.c_int(0), raw.FPDF_LINK()
    for _ in range(MOST_LINKS_PER_PAGE):
        if not raw.FPDFLink_Enumerate(page, position, link):
            return
        action = raw.FPDFLink_GetAction(link)
        if not action or raw.FPDFAction_GetType(action) != raw.PDFACTION_URI:
            continue
        size = raw.FPDFAction_GetURIPath(document, action, None, 0)
        if not 1 < size <= 8192:
            continue
        buffer = ctypes.create_string_buffer(size)
        raw.FPDFAction_GetURIPath(document, action, buffer, size)
        href = clean_href(buffer.value.decode("utf-8", "replace"))
        if href:
            href = f"http://{href}" if BARE_HOST.match(href) else href
            yield FoundLink(href, _text_below(raw, link, text_page), "a")


def _text_below(raw: Any, link: Any, text_page: Any) -> str:
    rectangle = raw.FS_RECTF()
    if not raw.FPDFLink_GetAnnotRect(link, rectangle):
        return ""
    text = text_page.get_text_bounded(rectangle.left, rectangle.bottom, rectangle.right, rectangle.top, errors="ignore")
    return collapse(_clean(text[: 4 * LONGEST_ANCHOR]), LONGEST_ANCHOR) or ""


def _find_written(text_page: Any) -> Iterator[FoundLink]:
    """Yields the web addresses that are written out in the text."""
    from pypdfium2 import raw

    found = raw.FPDFLink_LoadWebLinks(text_page)
    if not found:
        return
    try:
        for index in range(min(raw.FPDFLink_CountWebLinks(found), MOST_LINKS_PER_PAGE)):
            size = raw.FPDFLink_GetURL(found, index, None, 0)
            if not 1 < size <= 8192:
                continue
            buffer = (ctypes.c_ushort * size)()
            raw.FPDFLink_GetURL(found, index, buffer, size)
            url = bytes(buffer).decode("utf-16-le", "ignore").strip("\0")
            if url.startswith(("http://", "https://")) and (href := clean_href(url.rstrip(AFTER_ADDRESS))):
                yield FoundLink(href, "", "a")
    finally:
        raw.FPDFLink_CloseWebLinks(found)
