"""Receivers of alerts that plug-ins add: a target `SCHEME:TARGET` is theirs, `http:` and `https:` are webhooks."""

import json
import re
from functools import lru_cache

from forager.errors import UsageError
from forager.plugins import registry
from forager.plugins.collect import collect
from forager.plugins.contributions import Notifier
from forager.plugins.registry import PluginRegistry
from forager.plugins.threads import run_in_thread
from forager.webhooks.store import CallResult, DueCall

HOOK = "register_notifiers"
SCHEME = re.compile(r"[a-z][a-z0-9+.-]{1,30}")
WEB = ("http", "https")
TIMEOUT_S = 20.0
LONGEST_TARGET = 2000


def is_notifier_target(url: str) -> bool:
    """Whether a target is of a plug-in's receiver."""
    return find_notifier(url) is not None


def check_target(url: str) -> str:
    """Returns the target of a plug-in's receiver; raises UsageError."""
    if len(url) > LONGEST_TARGET or not url.isprintable():
        raise UsageError(f"A target has at most {LONGEST_TARGET} printable characters.", field="url")
    return url


def find_notifier(url: str) -> tuple[str, Notifier] | None:
    """Returns the receiver that a target means, with the name of its plug-in."""
    scheme = url.partition(":")[0]
    return None if scheme in WEB else _notifiers(registry.current()).get(scheme)


async def send(call: DueCall) -> CallResult | None:
    """Sends an alert to a plug-in's receiver; returns None if the target is none of theirs."""
    if call.url.startswith(("http://", "https://")):
        return None
    found = find_notifier(call.url)
    if found is None:
        scheme = call.url.partition(":")[0]
        return CallResult(call, None, f"no plug-in sends to {scheme} now")
    plugin, notifier = found
    target, document = call.url.partition(":")[2], json.loads(call.payload)
    try:
        await run_in_thread(lambda: notifier.send(target, document), timeout_s=TIMEOUT_S)
    except Exception as error:
        registry.current().note(plugin, HOOK, error)
        return CallResult(call, None, f"the plug-in {plugin} failed: {type(error).__name__}: {error}")
    return CallResult(call, None, None)


@lru_cache(4)
def _notifiers(plugins: PluginRegistry) -> dict[str, tuple[str, Notifier]]:
    found: dict[str, tuple[str, Notifier]] = {}
    for plugin, each in collect(HOOK, Notifier):
        if SCHEME.fullmatch(each.scheme) and each.scheme not in WEB and each.scheme not in found:
            found[each.scheme] = plugin, each
        else:
            plugins.note(plugin, HOOK, ValueError(f"{each.scheme!r} is no scheme, or one that exists already"))
    return found
