"""What a worker and its parser processes send each other. Both trust each other, they are one program: frames are
pickled."""

from collections.abc import Sequence
from itertools import repeat
from operator import attrgetter
from struct import Struct
from typing import Any, NamedTuple

from forager.fetch.models import BodyCoding
from forager.parsing.link_columns import LinkColumns
from forager.parsing.models import FoundImage, Reading

JOB_HEADER = Struct("<II")
"""How long the job is, and the body that follows it."""
RESULT_HEADER = Struct("<I")
READY = b"ready"

COMMAND = Struct("<cI")
"""To the parser server: what to do, and the number of the process. A start comes with the process's end of a socket."""
START_SHARED, START_ISOLATED, KILL = b"s", b"i", b"k"
REPORT = Struct("<cIi")
"""From the parser server: ENDED with the number of a process and its exit code, a signal as its negative; NOT_STARTED
with the error number. SERVER_READY has neither."""
SERVER_READY, ENDED, NOT_STARTED = b"r", b"e", b"n"

FIELDS = attrgetter(*Reading.__slots__)
LINKS = Reading.__slots__.index("links")
IMAGES = Reading.__slots__.index("images")
SEPARATOR = "\0"
"""No link of a page holds one; where one of a feed does, its column is sent as it is."""


class ParserConfig(NamedTuple):
    """How all pages of a worker are read."""

    keyword_words: int
    robots_agent: str


class Job(NamedTuple):
    """One page to read; its body follows."""

    url: str
    headers: dict[str, str]
    is_truncated: bool
    parser_name: str
    coding: BodyCoding | None
    """What the body is still compressed with."""


def pack(reading: Reading) -> tuple[Any, ...]:
    """Flat, and of the links their columns: sixty strings one by one take three times as long as one long string.
    Images are plain tuples: records are made by a function call each."""
    links = LinkColumns.of(reading.links)
    values = list(FIELDS(reading))
    values[LINKS] = None
    values[IMAGES] = list(map(tuple, reading.images)) or reading.images
    return _join(links.hrefs), _join(links.anchors), tuple(links.rels), *values


def unpack(packed: tuple[Any, ...]) -> Reading:
    hrefs, anchors, rels, *values = packed
    values[LINKS] = LinkColumns(_split(hrefs), _split(anchors), rels)
    values[IMAGES] = list(map(tuple.__new__, repeat(FoundImage), values[IMAGES])) or values[IMAGES]
    return Reading(*values)


def _join(column: Sequence[str]) -> str | Sequence[str]:
    joined = SEPARATOR.join(column)
    return joined if joined.count(SEPARATOR) == len(column) - 1 else tuple(column)


def _split(column: str | Sequence[str]) -> Sequence[str]:
    return column.split(SEPARATOR) if isinstance(column, str) else column
