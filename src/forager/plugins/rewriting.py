"""Calls the hook `rewrite_url`: which address identifies a page, and which addresses are not wanted.

One page has one key, so a result must be final. A plug-in whose result changes when it is rewritten again is not
followed. One that takes too long is not called again by this process, which would not send requests meanwhile.
"""

from forager.errors import BadUrlError
from forager.plugins import registry
from forager.plugins.guards import PluginTimeoutError, interrupt_after
from forager.plugins.registry import Implementation
from forager.urls.normalize import normalize

HOOK = "rewrite_url"
DROPPED = "plugin:"
"""How the reason begins for which a link is dropped; the name of the plug-in follows."""


class NotFinalError(Exception):
    """A result that is rewritten to another URL."""


def is_active() -> bool:
    """Whether any plug-in rewrites URLs."""
    return bool(registry.current().implementations(HOOK))


def rewrite(url: str) -> str:
    """Returns the URL that identifies a page, or the reason for dropping it (`drop_reason_in`). `url` is normalised."""
    found = url
    for each in registry.current().implementations(HOOK):
        result = _rewrite_once(each, found)
        if result.startswith(DROPPED):
            return result
        found = result
    if found != url and any(_call(each, found) not in {None, found} for each in _implementations()):
        return url  # plug-ins that undo each other
    return found


def drop_reason_in(url: str) -> str | None:
    """Returns the reason if `rewrite` returned one in place of a URL."""
    return url if url.startswith(DROPPED) else None


def rewrite_seed(url: str) -> str:
    """Returns the URL of a seed; raises BadUrlError if a plug-in drops it."""
    found = rewrite(url)
    if drop_reason_in(found):
        raise BadUrlError(f"{url} is dropped by the URL rule of the plug-in {found.removeprefix(DROPPED)}.")
    return found


def _implementations() -> tuple[Implementation, ...]:
    return registry.current().implementations(HOOK)


def _rewrite_once(each: Implementation, url: str) -> str:
    first = _call(each, url)
    if first is None or first == url or first.startswith(DROPPED):
        return first or url
    second = _call(each, first)
    if second not in {None, first}:
        error = NotFinalError(f"{url} becomes {first}, which becomes {second}")
        registry.current().note(each.plugin, HOOK, error, url=url)
        return url
    return first


def _call(each: Implementation, url: str) -> str | None:
    """Returns a normalised URL, a reason for dropping it, or None for no change or a failure."""

    def take(result: str | bool | None) -> str | None:
        if result is None or result is True:
            return None
        if result is False:
            return DROPPED + each.plugin
        if not isinstance(result, str):
            raise TypeError(f"rewrite_url returned a {type(result).__name__}; it returns a URL, False or None")
        return normalize(result)

    plugins = registry.current()
    found = plugins.call(each, {"url": url}, take, url=url, guard=interrupt_after)
    if plugins.last_error is PluginTimeoutError:
        plugins.leave_out({*plugins.left_out, each.plugin})
    return found
