"""Screenshots of pages, which are stored with their bodies."""

from collections.abc import Sequence

from forager.storage import snapshot
from forager.storage.location import Location
from forager.storage.refs import SnapshotRef, parse


def find_screenshot(place: Location, refs: Sequence[str]) -> bytes | None:
    """Returns the first screenshot among stored snapshots; None if they have none. Blocks."""
    for ref in map(parse, refs):
        if isinstance(ref, SnapshotRef) and (found := snapshot.get_screenshot(place.get(ref.key), ref)):
            return found
    return None
