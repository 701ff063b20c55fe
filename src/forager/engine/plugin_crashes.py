"""Plug-ins that end parser processes: what is recorded of them, and which are not called any more."""

from collections import Counter
from dataclasses import replace

from forager.engine.parser_client import ParserCrashedError
from forager.logs import log
from forager.parsing.models import Reading
from forager.plugins.models import CRASH, UNKNOWN, PluginError

MOST_CRASHES = 3
"""Number of processes after which a plug-in is not called any more: each costs the page a second, and the pages behind
it a start."""


class PluginCrashes:
    """The crashes of plug-ins in the processes of one pool."""

    def __init__(self, *, exist: bool) -> None:
        self.exist = exist
        """Whether there may be plug-ins besides those of Forager."""
        self.left_out: tuple[str, ...] = ()
        self._crashes = Counter[str]()

    def add_crash(self, reading: Reading | None, crash: ParserCrashedError | None, url: str) -> Reading | None:
        """Returns the page as it was read without plug-ins, with the error of the one that ended its process."""
        plugin = (crash.plugin if crash is not None else "") or UNKNOWN
        how = str(crash) if crash is not None else "it was killed several times"
        message = f"the parser process ended: {how}; the page was read without plug-ins"
        self._crashes[plugin] += 1
        if plugin != UNKNOWN and self._crashes[plugin] >= MOST_CRASHES:
            self.left_out = tuple(dict.fromkeys((*self.left_out, plugin)))
            message += ". The plug-in is not called any more until this worker is restarted"
        log().warning("plug-in ended a parser process", action="plugin.crash", plugin=plugin, url=url, how=how)
        if reading is None:
            return None
        return replace(reading, plugin_errors=(*reading.plugin_errors, PluginError(plugin, CRASH, message, url=url)))
