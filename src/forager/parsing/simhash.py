"""A 64-bit similarity hash: texts with nearly the same content differ in few bits. Measures only, decides nothing.

It runs for every page, so its cost does not grow with the text: a short text is hashed whole, a long one by the
beginnings of 12 lines, evenly spread. Numbers are ignored: a date, a counter or an id does not make a new text. Words
are assigned to 64 groups by their checksums, and the largest checksum of each group gives one bit (one-permutation
MinHash). Half of the bits differ between texts that share no word; a changed word changes at most two bits.
"""

from zlib import crc32

from forager.parsing import compiled

SHORT = 500
"""Characters of a text that is hashed whole. More would cost more: 40 µs for 60 words for every page."""
WINDOWS = 12
WINDOW = 48
FEWEST_WORDS = 8
"""Fewer words are too few to compare: half a sentence, an image with its caption."""
DIGITS = b"0123456789"
BITS = (*(0,) * 64, *(1 << group for group in range(64)))
"""The value of a checksum by its last seven bits: six for the group, one for whether the group's bit is set."""


def simhash(text: str, url: str = "") -> int | None:
    """Returns the hash, signed as the database stores it; None for too little text. If a short page repeats its own
    URL, as many "not found" pages do, the URL is ignored."""
    if len(text) <= SHORT and len(path := url[url.find("/", 8) :]) > 1:
        text = text.replace(path, "")
    return simhash_in_python(text) if compiled.native is None else compiled.native.simhash(text)


def simhash_in_python(text: str) -> int | None:
    if len(text) > SHORT:
        text = _sample(text)
    checksums = set(map(crc32, text.encode(errors="replace").translate(None, DIGITS).split()))
    if len(checksums) < FEWEST_WORDS:
        return None
    value = sum({checksum & 63: BITS[checksum & 127] for checksum in sorted(checksums)}.values())
    return value - (1 << 64) if value >> 63 else value


def distance(one: int, other: int) -> int:
    """Returns the number of bits in which two hashes differ."""
    return ((one ^ other) & (1 << 64) - 1).bit_count()


def _sample(text: str) -> str:
    """Samples from the beginning of lines, so that a word more or less at the top does not shift all that follows."""
    step = len(text) // WINDOWS
    starts = [text.find("\n", place) + 1 or place for place in range(0, step * WINDOWS, step)]
    return "\n".join([text[start : start + WINDOW] for start in starts])
