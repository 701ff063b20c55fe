"""Parses texts with highlight marks, as returned by the database, into a text and match positions. Pure."""

from forager.search.models import Marked

START, STOP = "\x02", "\x03"


def read_marked(text: str) -> Marked:
    before, *parts = text.split(START)
    plain, length = [before], len(before)
    matches: list[tuple[int, int]] = []
    for part in parts:
        inside, stop, outside = part.partition(STOP)
        if stop and inside:
            matches.append((length, length + len(inside)))
        plain += [inside, outside]
        length += len(inside) + len(outside)
    return Marked("".join(plain), tuple(matches))


def maybe_marked(text: str | None) -> Marked | None:
    return read_marked(text) if text else None
