"""Bytes of a page → UTF-8, as WHATWG decides it: BOM, then header, then `<meta>`, then what the bytes themselves say.

Never raises and never leaves a NUL or an invalid sequence. Says what it saw: `charset_lie` when the declared charset
cannot be true, `nul` when there were NULs.
"""

import codecs
import re
from collections.abc import Iterator
from functools import lru_cache

from webencodings.labels import LABELS  # type: ignore[import-untyped]

BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
PRESCAN_BYTES = 1024
SNIFF_BYTES = 4096
FEWEST_HIGH_BYTES = 0.25
"""Of the text; accents and quotes of a Western page are a few in a hundred, other scripts nearly all."""
MOST_STRAY_BYTES = 5
"""So few high bytes say nothing about the charset of a page."""
DAMAGED = 4
"""So many letters of UTF-8 for each byte that is none: the page is UTF-8, and damaged."""
TOLERATED_REPLACEMENTS = 0.01
"""Some bad bytes are damage; more than one character in a hundred is a wrong charset."""

HEADER_CHARSET = re.compile(r"""charset\s*=\s*["']?\s*([^\s"';,]+)""", re.IGNORECASE)
META = re.compile(rb"""<meta[\s/]((?:[^>"']|"[^"]*"|'[^']*')*+)""", re.IGNORECASE)
ATTRIBUTE = re.compile(rb"""([^\s"'<>/=]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'<>]++)))?+""")
CONTENT_CHARSET = re.compile(rb"""charset\s*=\s*["']?\s*([^\s"';]+)""", re.IGNORECASE)
XML_ENCODING = re.compile(rb"""^\s*<\?xml[^>]*?\bencoding\s*=\s*["']([^"']+)["']""", re.IGNORECASE)
NOT_READ = re.compile(rb"<!--.*?(?:-->|$)|<(script|style|title|textarea)\b.*?(?:</\1|$)", re.IGNORECASE | re.DOTALL)
ESCAPE = b"\x1b"
"""Switches to other letters in charsets whose bytes are all ASCII."""
MARKUP = re.compile(rb"<(?:script|style)\b.*?(?:</(?:script|style)|\Z)|<[^>]*+>?|\s++", re.IGNORECASE | re.DOTALL)

KANA = re.compile(r"[\u3040-\u30ff]")

LATIN = "windows-1252"
# Where WHATWG means another codec than Python does by the same name; `replacement` stands for charsets it has given up.
CODECS = {
    "windows-1252": LATIN,
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc-kr": "cp949",
    "big5": "big5hkscs",
    "windows-874": "cp874",
    "iso-8859-8-i": "iso8859-8",
    "macintosh": "mac-roman",
    "x-mac-cyrillic": "mac-cyrillic",
    "ibm866": "cp866",
    "x-user-defined": LATIN,
    "replacement": LATIN,
}
OWN_LABELS = {
    "hz-gb-2312": "hz",
    "iso-2022-kr": "iso2022_kr",
    "csiso2022kr": "iso2022_kr",
    "latin-1": LATIN,
    "koi": "koi8-r",
}
"""Labels whose text we can read although browsers do not, or that only we know."""
MULTI_BYTE = frozenset({"gb18030", "cp932", "cp949", "big5hkscs", "euc_jp", "iso2022_jp", "utf-16-le", "utf-16-be"})
CYRILLIC = {"cp1251", "koi8-r", "koi8-u", "iso8859-5", "cp866", "mac-cyrillic"}
GREEK_AND_EAST = {"cp1253", "iso8859-7", "cp1255", "iso8859-8", "cp1256", "iso8859-6", "cp874"}
FAR_EAST = {"euc_jis_2004", "euc_kr", "johab", "big5", "gbk", "shift_jis_2004"}
OTHER_SCRIPTS = MULTI_BYTE | CYRILLIC | GREEK_AND_EAST | FAR_EAST


def to_utf8(body: bytes, content_type: str) -> tuple[bytes, tuple[str, ...]]:
    """The page as valid UTF-8 without BOM or NUL, and the oddities met."""
    page, flags = _transcode(body, content_type)
    if b"\0" in page:
        return page.replace(b"\0", b""), (*flags, "nul")
    return page, flags


def _transcode(body: bytes, content_type: str) -> tuple[bytes, tuple[str, ...]]:
    for bom, marked in BOMS:
        if body.startswith(bom):
            return _from(marked, body[len(bom) :]), ()
    codec = _declared_codec(body, content_type)
    if codec is None and (ESCAPE in body or not _is_utf8(body)):
        codec = _named_in(NOT_READ.sub(b"", body))
    if codec is None:
        return (body, ()) if _is_utf8(body) else (_mend_utf8(body) or _from(sniff(body), body), ())
    if codec in MULTI_BYTE:
        return _trust_multi_byte(codec, body)
    if _is_utf8(body):
        # Legacy bytes are never valid UTF-8 by chance, so a page that says windows-1252 and is UTF-8 was mislabelled.
        return body, () if codec == "utf-8" or body.isascii() else ("charset_lie",)
    if codec == "utf-8":
        return _trust_utf8(body)
    mended = _mend_utf8(body)
    return (mended, ("charset_lie",)) if mended is not None else (_from(codec, body), ())


def _trust_utf8(body: bytes) -> tuple[bytes, tuple[str, ...]]:
    text = body.decode("utf-8", "replace")
    if _is_readable(text):
        return text.encode(), ()
    return _from(sniff(body), body), ("charset_lie",)


def _trust_multi_byte(codec: str, body: bytes) -> tuple[bytes, tuple[str, ...]]:
    text = body.decode(codec, "replace")
    if _is_readable(text):
        return _encode(text), ()
    is_lie = ("charset_lie",)
    return (body, is_lie) if _is_utf8(body) else (_from(sniff(body), body), is_lie)


def _mend_utf8(body: bytes) -> bytes | None:
    """UTF-8 with a few bytes out of place, of a page that was cut or glued together; None for other bytes. Letters of
    legacy charsets hardly ever look like UTF-8."""
    text = body.decode("utf-8", "replace")
    bad = text.count("\ufffd")
    letters = len(text) - len(text.encode("ascii", "ignore")) - bad
    return text.encode() if letters > DAMAGED * bad else None


def _is_readable(text: str) -> bool:
    return text.count("�") <= max(2, len(text) * TOLERATED_REPLACEMENTS)


def _is_utf8(body: bytes) -> bool:
    if body.isascii():
        return True
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _from(codec: str, body: bytes) -> bytes:
    return _encode(body.decode(codec, "replace"))


def _encode(text: str) -> bytes:
    """UTF-16 can carry lone surrogates past its decoder's replacement; UTF-8 cannot."""
    return text.encode("utf-8", "replace")


def _declared_codec(body: bytes, content_type: str) -> str | None:
    if codec := _header_codec(content_type):
        return codec
    head = body[:PRESCAN_BYTES]
    if head.startswith((b"<\0", b"\0<")):
        return "utf-16-le" if head[1] == 0 else "utf-16-be"
    return _named_in(NOT_READ.sub(b"", head))


def _named_in(page: bytes) -> str | None:
    """Returns the first charset that the page itself names and that there is."""
    for label in _labels_in(page):
        if codec := find_codec(label.decode("ascii", "replace")):
            # A declaration that could be read as bytes cannot be in UTF-16.
            return "utf-8" if codec.startswith("utf-16") else codec
    return None


def _labels_in(page: bytes) -> Iterator[bytes]:
    for meta in META.finditer(page):
        given: dict[bytes, bytes] = {}
        for name, *values in ATTRIBUTE.findall(meta[1]):
            given.setdefault(name.lower(), b"".join(values))
        if label := given.get(b"charset"):
            yield label
        elif given.get(b"http-equiv", b"").strip().lower() == b"content-type":
            yield from CONTENT_CHARSET.findall(given.get(b"content", b""))[:1]
    if declared := XML_ENCODING.search(page):
        yield declared[1]


@lru_cache(maxsize=256)
def _header_codec(content_type: str) -> str | None:
    match = HEADER_CHARSET.search(content_type)
    return find_codec(match[1]) if match else None


@lru_cache(maxsize=256)
def find_codec(label: str) -> str | None:
    """Python's codec for a WHATWG label; None for a label that names no text encoding."""
    label = label.strip().lower()[:40]
    if known := OWN_LABELS.get(label):
        return known
    name = LABELS.get(label)
    if name in CODECS:
        return CODECS[name]
    try:
        codec = codecs.lookup(name or label)
        b"<meta>".decode(codec.name, "replace")
    except (LookupError, ValueError, TypeError, AttributeError):
        return None
    # utf-7 and its like are refused as browsers do: they let markup hide from everyone else who looks.
    return None if codec.name in {"utf-7", "idna", "punycode", "unicode_escape", "raw_unicode_escape"} else codec.name


def sniff(body: bytes) -> str:
    """A guess from the text itself, markup left out; windows-1252 when nothing speaks for anything else."""
    from charset_normalizer import from_bytes

    text = MARKUP.sub(b" ", body[: 16 * SNIFF_BYTES])
    sample = text[next((i for i, byte in enumerate(text) if byte > 127), 0) :][:SNIFF_BYTES]
    if sum(byte > 127 for byte in sample) <= max(MOST_STRAY_BYTES, len(sample) * FEWEST_HIGH_BYTES):
        return LATIN
    if _is_euc_jp(sample):
        return "euc_jp"
    guess = from_bytes(sample, threshold=0.4, enable_fallback=False).best()
    codec = find_codec(guess.encoding) if guess else None
    # Between Latin charsets it guesses badly ("č" for "è"), so those fall to the one browsers take.
    return codec if codec and codec in OTHER_SCRIPTS else LATIN


def _is_euc_jp(sample: bytes) -> bool:
    """Half kana and no byte out of place; the guesser takes it for Big5."""
    text = sample.decode("euc_jp", "replace")
    return _is_readable(text) and len(KANA.findall(text)) * 4 > len(text)
