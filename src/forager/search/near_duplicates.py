"""Finds near-duplicate texts by their SimHashes. Pure.

Two hashes that differ in at most 3 of 64 bits share at least one of four quarters, so a lookup by quarters finds all of
them. The first text of a cluster leads it: every text near to the leader belongs to the cluster.
"""

from collections.abc import Iterable, Mapping

NEAR_BITS = 3
QUARTERS = 4
_QUARTER = (1 << 16) - 1


def split_simhash(simhash: int) -> list[int]:
    """Returns the four quarters, each tagged with its position."""
    return [place << 16 | simhash >> 16 * place & _QUARTER for place in range(QUARTERS)]


def distance(one: int, other: int) -> int:
    return ((one ^ other) & (1 << 64) - 1).bit_count()


def group(hashes: Mapping[int, int]) -> dict[int, int]:
    """Returns page → leading page, which is the page itself if it is the first of its kind; in the order of the
    mapping."""
    leaders: dict[int, list[int]] = {}
    leads: dict[int, int] = {}
    for page, simhash in hashes.items():
        near = {leader for band in split_simhash(simhash) for leader in leaders.get(band, ())}
        leader = _find_near(simhash, near, hashes)
        leads[page] = page if leader is None else leader
        if leader is None:
            for band in split_simhash(simhash):
                leaders.setdefault(band, []).append(page)
    return leads


def _find_near(simhash: int, leaders: Iterable[int], hashes: Mapping[int, int]) -> int | None:
    found = min(((distance(simhash, hashes[leader]), leader) for leader in leaders), default=None)
    return found[1] if found is not None and found[0] <= NEAR_BITS else None
