"""A 64-bit similarity hash: texts that say nearly the same differ in few bits. Decides nothing, only measures.

It runs for every page, so its price does not grow with the text: a short text is looked at whole, of a long one the
beginnings of 12 lines, evenly spread. Numbers do not count: a date, a counter or an id makes no new text. Words fall
into 64 groups by their checksums, and of each group the largest checksum gives one bit (one-permutation MinHash). Half
of the bits differ between texts that share no word; a word that is changed changes two bits at most.
"""

from zlib import crc32

from forager.parsing import compiled

SHORT = 500
"""Characters of a text that is looked at whole. More cost more: 40 µs for 60 words, in the midst of reading a page."""
WINDOWS = 12
WINDOW = 48
FEWEST_WORDS = 8
"""Less is too little to be compared: half a sentence, a picture with its caption."""
DIGITS = b"0123456789"
BITS = (*(0,) * 64, *(1 << group for group in range(64)))
"""What a checksum gives, by its last seven bits: six for the group, one that says whether the group's bit is set."""


def simhash(text: str, url: str = "") -> int | None:
    """Signed, as the database keeps it; None where there is too little text. Where a short page repeats its own
    address, as many a "not found" does, the address does not count."""
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
    """In how many bits two of them differ."""
    return ((one ^ other) & (1 << 64) - 1).bit_count()


def _sample(text: str) -> str:
    """From the beginning of a line each, so that a word more or less at the top does not move all that follows."""
    step = len(text) // WINDOWS
    starts = [text.find("\n", place) + 1 or place for place in range(0, step * WINDOWS, step)]
    return "\n".join([text[start : start + WINDOW] for start in starts])
