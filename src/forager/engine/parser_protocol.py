"""Messages between a worker and its parser processes. Both are the same program and trust each other: frames are
pickled."""

import json
from collections.abc import Sequence
from itertools import repeat
from operator import attrgetter
from struct import Struct
from typing import Any, NamedTuple

from forager.fetch.models import BodyCoding
from forager.parsing.link_columns import LinkColumns
from forager.parsing.models import FoundImage, ParseOptions, Reading
from forager.plugins.guards import MARKER_BYTES
from forager.plugins.models import NO_PLUGINS, PluginConfig

JOB_HEADER = Struct("<II")
"""The length of the job, and of the body that follows it."""
RESULT_HEADER = Struct("<I")
READY = b"ready"

COMMAND = Struct("<cI")
"""To the parser server: a command and the number of the process. A start carries the process's end of a socket."""
START_SHARED, START_ISOLATED, KILL = b"s", b"i", b"k"
REPORT = Struct(f"<cIi{MARKER_BYTES}s")
"""From the parser server: ENDED with the number of a process, its exit code (negative for a signal) and the plug-in it
was calling; NOT_STARTED with the errno. SERVER_READY has none of these."""
SERVER_READY, ENDED, NOT_STARTED = b"r", b"e", b"n"

FIELDS = attrgetter(*Reading.__slots__)
LINKS = Reading.__slots__.index("links")
IMAGES = Reading.__slots__.index("images")
SEPARATOR = "\0"
"""Separator that does not occur in links of pages; if a link of a feed contains it, the column is sent as a list."""


class ParserConfig(NamedTuple):
    """Parser settings shared by all pages of a worker, as texts: they travel on a command line."""

    robots_agent: str
    extractors_folder: str = ""
    """Where extractor files are; empty: there are none."""
    plugins: str = ""
    """A `PluginConfig` as JSON; empty: there are none."""

    @property
    def plugin_config(self) -> PluginConfig:
        return PluginConfig(*json.loads(self.plugins)) if self.plugins else NO_PLUGINS

    @property
    def read_arguments(self) -> dict[str, Any]:
        """Returns the arguments of `parsing.page.read`."""
        return {"robots_agent": self.robots_agent, "extractors_folder": self.extractors_folder}


class Job(NamedTuple):
    """One page to read; its body follows."""

    url: str
    headers: dict[str, str]
    is_truncated: bool
    options: ParseOptions
    coding: BodyCoding | None
    """The content encoding the body still has."""
    left_out: tuple[str, ...] = ()
    """Plug-ins that are not called for this page; `*`: none is."""


def pack(reading: Reading) -> tuple[Any, ...]:
    """Returns the reading as a flat tuple, with links as columns: sixty separate strings take three times as long as
    one long string. Images are plain tuples, because each record would cost a function call."""
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
