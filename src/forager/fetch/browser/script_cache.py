"""Cache of scripts that pages of a site share, so that they are not requested for every page."""

from collections import OrderedDict
from collections.abc import Callable

from forager import clock
from forager.fetch.models import Fetched

MOST_BYTES = 32 * 1024 * 1024
KEPT_S = 300.0


class ScriptCache:
    def __init__(self, *, most_bytes: int = MOST_BYTES, now: Callable[[], float] = clock.monotonic) -> None:
        self._most_bytes = most_bytes
        self._now = now
        self._kept: OrderedDict[tuple[str, str], tuple[float, Fetched]] = OrderedDict()
        self._bytes = 0

    def take(self, site: str, url: str) -> Fetched | None:
        """Returns what `site` itself loaded before. The cache is per site, so that no site can detect what others
        load."""
        until, fetched = self._kept.get((site, url), (0.0, None))
        if fetched is None or self._now() >= until:
            return None
        self._kept.move_to_end((site, url))
        return fetched

    def keep(self, site: str, url: str, fetched: Fetched) -> None:
        if fetched.status_code != 200 or "no-store" in fetched.headers.get("cache-control", "").lower():
            return
        if len(fetched.body) > self._most_bytes // 4:
            return
        before = self._kept.pop((site, url), None)
        self._bytes += len(fetched.body) - (len(before[1].body) if before else 0)
        self._kept[site, url] = (self._now() + KEPT_S, fetched)
        while self._bytes > self._most_bytes:
            _, (_, oldest) = self._kept.popitem(last=False)
            self._bytes -= len(oldest.body)
