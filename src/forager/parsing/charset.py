"""Converts the bytes of a page to UTF-8 in the WHATWG order: BOM, then header, then `<meta>`, then detection.

Never raises and never leaves a NUL or an invalid sequence. Reports flags: `charset_lie` when the declared charset
cannot be true, `nul` when there were NULs.
"""

import codecs
import re
from collections.abc import Iterator
from functools import lru_cache

import cchardet
from webencodings.labels import LABELS  # type: ignore[import-untyped]

from forager.parsing import compiled

BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
PRESCAN_BYTES = 1024
SNIFF_BYTES = 65_536
"""Counted from the first non-ASCII byte. The detector takes 36 ns per byte of non-Latin scripts."""
MOST_STRAY_BYTES = 5
"""Up to this many high bytes say nothing about the charset of a page, unless there is hardly any other text."""
SURE = 0.75
"""With 20 letters and a few accents, this threshold is right for 0.99 of Western and 0.67 of Eastern European texts."""
UTF8_BY_CHANCE = 8
"""Continuation bytes: up to this many may be Chinese or Japanese text that is valid UTF-8 by chance."""
CUT = "unexpected end of data"
DAMAGED = 4
"""UTF-8 characters per invalid byte from which on the page counts as damaged UTF-8."""
TOLERATED_REPLACEMENTS = 0.01
"""A few bad bytes are damage; more than one character in a hundred indicates a wrong charset."""

HEADER_CHARSET = re.compile(r"""charset\s*=\s*["']?\s*([^\s"';,]+)""", re.IGNORECASE)
META = re.compile(rb"""<meta[\s/]((?:[^>"']|"[^"]*"|'[^']*')*+)""", re.IGNORECASE)
ATTRIBUTE = re.compile(rb"""([^\s"'<>/=]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'<>]++)))?+""")
CONTENT_CHARSET = re.compile(rb"""charset\s*=\s*["']?\s*([^\s"';]+)""", re.IGNORECASE)
XML_ENCODING = re.compile(rb"""^\s*<\?xml[^>]*?\bencoding\s*=\s*["']([^"']+)["']""", re.IGNORECASE)
NOT_READ = re.compile(rb"<!--.*?(?:-->|$)|<(script|style|title|textarea)\b.*?(?:</\1|$)", re.IGNORECASE | re.DOTALL)
ESCAPE = b"\x1b"
SHIFT = b"\x1b$"
"""Switches the character set in encodings whose bytes are all ASCII."""
HIGH = re.compile(rb"[\x80-\xff]")
HIGH_BYTES = bytes(range(128, 256))
LETTERS = re.compile(rb"[A-Za-z]")
HTML_LANG = re.compile(rb"""<html\b[^>]*?\slang\s*=\s*["']?([A-Za-z]{2,3}(?:-[A-Za-z]{2,4})?)""", re.IGNORECASE)
MARKUP = re.compile(rb"<(?:script|style)\b.*?(?:</(?:script|style)|\Z)|<[^>]*+>?|\s++", re.IGNORECASE | re.DOTALL)

LATIN = "windows-1252"
# Labels for which WHATWG and Python mean different codecs; `replacement` stands for charsets that WHATWG has dropped.
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
"""Labels that Forager decodes although browsers do not, and labels that only Forager knows."""
NOT_ASCII = frozenset({"utf-16-le", "utf-16-be", "utf-16", "iso2022_jp", "iso2022_kr", "hz"})
"""Encodings in which even ASCII bytes may be other characters."""
MULTI_BYTE = NOT_ASCII | {"gb18030", "cp932", "cp949", "big5hkscs", "euc_jp"}
MEANT = {
    # Never seen on the web, but detected for texts of a few words.
    **dict.fromkeys(("ibm850", "ibm852", "ibm437", "ibm865", "maccentraleurope", "mac-centraleurope"), LATIN),
    **dict.fromkeys(("iso-8859-3", "iso-8859-10"), LATIN),
    "iso-8859-16": "windows-1250",
    "koi8-r": "koi8-u",  # the same except for four letters, which replace box-drawing characters
}
USUAL_CODECS = {
    **dict.fromkeys(("ar", "fa", "ur", "ug"), "cp1256"),
    **dict.fromkeys(("ba", "be", "bg", "kk", "ky", "mk", "ru", "sah", "sr", "tg", "tt", "uk"), "cp1251"),
    **dict.fromkeys(("cs", "hr", "sk", "ro"), "cp1250"),
    **dict.fromkeys(("hu", "pl", "sl"), "iso8859-2"),
    **dict.fromkeys(("et", "lt", "lv"), "cp1257"),
    **dict.fromkeys(("ku", "tr", "az"), "cp1254"),
    **dict.fromkeys(("he", "yi"), "cp1255"),
    **dict.fromkeys(("zh", "zh-cn"), "gb18030"),
    **dict.fromkeys(("zh-tw", "zh-hk"), "big5hkscs"),
    "el": "iso8859-7",
    "ja": "cp932",
    "ko": "cp949",
    "th": "cp874",
    "vi": "cp1258",
}
"""By language, as the HTML standard defines it for a user's locale."""


def to_utf8(body: bytes, content_type: str) -> tuple[bytes, tuple[str, ...]]:
    """Returns the page in UTF-8 without BOM or NUL, and the flags; undecodable bytes become U+FFFD. Valid UTF-8, as
    nearly all pages are, is scanned once and returned unchanged."""
    page, flags = _convert(body, content_type)
    return (page.replace(b"\0", b""), (*flags, "nul")) if b"\0" in page else (page, flags)


def to_text(body: bytes, content_type: str) -> tuple[str, tuple[str, ...]]:
    page, flags = to_utf8(body, content_type)
    return page.decode(), flags


def _convert(body: bytes, content_type: str) -> tuple[bytes, tuple[str, ...]]:
    for bom, marked in BOMS:
        if body.startswith(bom):
            return _from(marked, body[len(bom) :]), ()
    codec = _header_codec(content_type) or _codec_of_head(body[:PRESCAN_BYTES])
    if codec in NOT_ASCII:
        return _trust_multi_byte(codec, body)
    surplus = utf8_surplus(body)
    if surplus < 0:
        return _convert_legacy(body, codec or _named_in(NOT_READ.sub(b"", body)))
    if codec is None and ESCAPE in body and (shifting := _find_escape_codec(body)):
        return _trust_multi_byte(shifting, body)
    if codec in MULTI_BYTE and 0 < surplus < UTF8_BY_CHANCE:
        return _trust_multi_byte(codec, body)
    # More legacy letters are never valid UTF-8 by chance: a UTF-8 page that declares windows-1252 was mislabelled.
    return body, () if codec in {None, "utf-8"} or not surplus else ("charset_lie",)


def utf8_surplus(body: bytes) -> int:
    """Returns the number of UTF-8 bytes minus the number of characters; -1 if invalid."""
    if compiled.native is not None:
        return compiled.native.utf8_surplus(body)
    try:
        return len(body) - len(body.decode())
    except UnicodeDecodeError:
        return -1


def _from(codec: str, body: bytes) -> bytes:
    """Decodes to UTF-8. UTF-16 decoders can pass half of a surrogate pair, which UTF-8 cannot represent."""
    return body.decode(codec, "replace").encode("utf-8", "replace")


def _convert_legacy(body: bytes, codec: str | None) -> tuple[bytes, tuple[str, ...]]:
    """Converts a body that is not valid UTF-8."""
    if codec in MULTI_BYTE:
        return _trust_multi_byte(codec, body)
    text = body.decode("utf-8", "replace")
    if codec == "utf-8":
        return (text.encode(), ()) if _is_readable(text) else (_guess(body), ("charset_lie",))
    if _is_broken_utf8(text) or _is_truncated_utf8(body):
        return text.encode(), ("charset_lie",) if codec else ()
    return _from(codec, body) if codec else _guess(body), ()


def _is_truncated_utf8(body: bytes) -> bool:
    """Whether only the last character is incomplete, and it is not the only non-ASCII one."""
    try:
        body.decode()
    except UnicodeDecodeError as error:
        return error.reason == CUT and not body[: error.start].isascii()
    return False


def _trust_multi_byte(codec: str, body: bytes) -> tuple[bytes, tuple[str, ...]]:
    text = body.decode(codec, "replace")
    if _is_readable(text):
        return text.encode("utf-8", "replace"), ()
    return (body if utf8_surplus(body) >= 0 else _guess(body)), ("charset_lie",)


def _guess(body: bytes) -> bytes:
    return _from(guess_charset(body), body)


def _is_broken_utf8(text: str) -> bool:
    """Whether this is UTF-8 with a few misplaced bytes, of a page that was truncated or concatenated. Text in legacy
    charsets hardly ever looks like UTF-8."""
    bad = text.count("\ufffd")
    return len(text) - len(text.encode("ascii", "ignore")) - bad > DAMAGED * bad


def _is_readable(text: str) -> bool:
    return text.count("�") <= max(2, len(text) * TOLERATED_REPLACEMENTS)


def _codec_of_head(head: bytes) -> str | None:
    if head.startswith((b"<\0", b"\0<")):
        return "utf-16-le" if head[1] == 0 else "utf-16-be"
    return _named_in(NOT_READ.sub(b"", head))


def _find_escape_codec(body: bytes) -> str | None:
    """Returns the codec of an all-ASCII page that switches character sets by escape sequences."""
    if SHIFT not in body:
        return None
    if codec := _named_in(NOT_READ.sub(b"", body)):
        return codec if codec in NOT_ASCII else None
    start = body.index(SHIFT)
    codec = find_codec(cchardet.detect(body[start : start + SNIFF_BYTES])["encoding"] or "")
    return codec if codec in NOT_ASCII else None


def _named_in(page: bytes) -> str | None:
    """Returns the first known charset that the page itself declares."""
    for label in _labels_in(page):
        if codec := find_codec(label.decode("ascii", "replace")):
            # A declaration that is readable as bytes cannot be in UTF-16.
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
    """Returns Python's codec for a WHATWG label; None for a label that is not a text encoding."""
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
    # utf-7 and similar are rejected as in browsers: they allow markup to be hidden from other software.
    return None if codec.name in {"utf-7", "idna", "punycode", "unicode_escape", "raw_unicode_escape"} else codec.name


def guess_charset(body: bytes) -> str:
    """Guesses the charset from the text; if there is too little, returns the browsers' default for the page's
    language."""
    first = HIGH.search(body)
    sample = body[first.start() :][:SNIFF_BYTES] if first else b""
    found = cchardet.detect(sample)
    name = (found["encoding"] or "").lower()
    codec, usual = find_codec(MEANT.get(name, name)), _default_codec(body)
    # Bytes that form a UTF-16 BOM at the start of a page are none in its middle.
    if (
        codec is None
        or codec.startswith("utf-")
        or (usual == LATIN and _is_weak_sample(sample, found["confidence"] or 0.0))
    ):
        return usual
    return codec or usual


def _is_weak_sample(sample: bytes, sureness: float) -> bool:
    """Whether the sample fits many charsets: a pound sign, two quotation marks or the accents of a name."""
    high = len(sample) - len(sample.translate(None, HIGH_BYTES))
    if high > MOST_STRAY_BYTES:
        return False
    letters = len(LETTERS.findall(MARKUP.sub(b" ", sample))) + high
    return high * 2 < letters and (high == 1 or sureness < SURE or high * 50 < letters)


@lru_cache(maxsize=64)
def _codec_for(language: str) -> str:
    primary = language.partition("-")[0]
    return USUAL_CODECS.get(language) or USUAL_CODECS.get(primary) or LATIN


def _default_codec(body: bytes) -> str:
    lang = HTML_LANG.search(body[:PRESCAN_BYTES])
    return _codec_for(lang[1].decode().lower()) if lang else LATIN
