"""A compact set of known pages: flat memory, 24 bytes a page, and no Python object per page. A `dict` took 120.

    segments: 256, by a key's first byte. Each grows separately, so that growing never blocks for long.
    segment:  the number of used slots (24 bytes), then its buckets
    bucket:   16 slots, by the key's next bytes. Most recently used first; the last one is evicted
    slot:     the key (16 bytes), page id and depth packed into one number (8 bytes, the highest first); 0: free

Keys are hashes, so they are evenly distributed. The functions here are the reference, and are used if nothing was
compiled: `c/known.h` implements them in C.
"""

from collections.abc import Iterable

from forager.frontier import compiled
from forager.frontier.compiled import FindKnown, PutKnown, TakeKnown
from forager.links.models import Discovery

DEPTH_BITS = 10
DEEPEST = (1 << DEPTH_BITS) - 1
KEY = 16
SLOT = KEY + 8
WAYS = 16
BUCKET = WAYS * SLOT
SEGMENTS = 256
Segments = list[bytearray]


def make_segments(pages: int = SEGMENTS * WAYS) -> Segments:
    """Returns segments with one bucket each. If `pages` is less than their capacity, several segments share one."""
    apart = [bytearray(SLOT + BUCKET) for _ in range(max(1, min(SEGMENTS, -(-pages // WAYS))))]
    return [apart[number % len(apart)] for number in range(SEGMENTS)]


def buckets_for(pages: int) -> int:
    """Returns the maximum number of buckets of one segment, if all segments together hold this number of pages."""
    return max(1, -(-pages // (SEGMENTS * WAYS)))


def entry_of(key: bytes, packed: int) -> bytes:
    """Returns an entry in the format of a slot, as `put_known` takes it."""
    return key + packed.to_bytes(8, "big")


def count_entries(segments: Segments) -> int:
    apart = {id(segment): segment for segment in segments}.values()
    return sum(int.from_bytes(segment[:8], "big") for segment in apart)


def find_known_in_python(segments: Segments, key: bytes) -> int:
    """Returns the packed value of a key, and moves it to the front of its bucket; 0 if it is not known."""
    segment = segments[key[0]]
    start = _bucket_of(segment, key)
    at = _slot_of(segment, key, start)
    if at < 0:
        return 0
    slot = segment[at : at + SLOT]
    if at > start:
        segment[start : at + SLOT] = slot + segment[start:at]
    return int.from_bytes(slot[KEY:], "big")


def put_known_in_python(segments: Segments, entries: bytes, most_buckets: int) -> None:
    """Adds concatenated slots. A segment that is half full grows, up to `most_buckets`; after that a full bucket evicts
    its least recently used entry."""
    if len(entries) % SLOT:
        raise ValueError("entries are 24 bytes each")
    for begin in range(0, len(entries), SLOT):
        entry = entries[begin : begin + SLOT]
        segment = segments[entry[0]]
        if _put(segment, entry) and _should_resize(segment, most_buckets):
            segments[entry[0]] = _resize(segment, most_buckets)


def take_known_in_python(links: Iterable[Discovery], segments: Segments, ids: dict[bytes, int]) -> list[Discovery]:
    """Adds the cached pages of links to `ids` and returns the other links. Nine links of ten lead to a cached page and
    do not lower its depth."""
    others: list[Discovery] = []
    for link in links:
        key = link.key
        packed = find_known_in_python(segments, key)
        if not packed or link.depth < packed & DEEPEST:
            others.append(link)
        else:
            ids[key] = packed >> DEPTH_BITS
    return others


find_known: FindKnown = compiled.find_known or find_known_in_python
put_known: PutKnown = compiled.put_known or put_known_in_python
take_known: TakeKnown = compiled.take_known or take_known_in_python


def _bucket_of(segment: bytearray, key: bytes) -> int:
    buckets = (len(segment) - SLOT) // BUCKET
    return SLOT + int.from_bytes(key[1:9], "big") % buckets * BUCKET


def _slot_of(segment: bytearray, key: bytes, start: int) -> int:
    """Returns the offset of the slot, or -1. Skips matches across the border of two slots, and a key of zeros that
    matches a free slot."""
    at = segment.find(key, start, start + BUCKET)
    while at >= 0 and ((at - start) % SLOT or not any(segment[at + KEY : at + SLOT])):
        at = segment.find(key, at + 1, start + BUCKET)
    return at


def _put(segment: bytearray, entry: bytes) -> bool:
    """Returns True if a free slot was taken."""
    if not any(entry[KEY:]):
        return False
    start = _bucket_of(segment, entry)
    last = start + BUCKET - SLOT
    at = _slot_of(segment, entry[:KEY], start)
    is_new = at < 0 and not any(segment[last + KEY : last + SLOT])
    if at < 0:
        at = last
    segment[start : at + SLOT] = entry + segment[start:at]
    if is_new:
        segment[:8] = (int.from_bytes(segment[:8], "big") + 1).to_bytes(8, "big")
    return is_new


def _should_resize(segment: bytearray, most_buckets: int) -> bool:
    buckets = (len(segment) - SLOT) // BUCKET
    return buckets < most_buckets and int.from_bytes(segment[:8], "big") * 2 >= buckets * WAYS


def _resize(segment: bytearray, most_buckets: int) -> bytearray:
    """Doubles the segment. Copies from the last slot to the first, so that the order within a bucket is kept."""
    buckets = (len(segment) - SLOT) // BUCKET
    larger = bytearray(SLOT + BUCKET * min(2 * buckets, most_buckets))
    for at in range(len(segment) - SLOT, 0, -SLOT):
        _put(larger, bytes(segment[at : at + SLOT]))
    return larger
