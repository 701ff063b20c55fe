"""Collects what plug-ins register: jobs, alert rules, receivers of alerts, formats of exports, stores."""

from functools import partial
from typing import Any, TypeVar

from forager.plugins import registry

T = TypeVar("T")


def collect(hook: str, kind: type[T]) -> list[tuple[str, T]]:
    """Returns what plug-ins return for a hook, each with the name of its plug-in. One that returns something else adds
    nothing."""
    found = registry.current().call_all(hook, {}, partial(_check, kind))
    return [(plugin, each) for plugin, registered in found for each in registered]


def _check(kind: type[T], result: Any) -> list[T]:
    registered = list(result or ())
    for each in registered:
        if not isinstance(each, kind):
            raise TypeError(f"it registered a {type(each).__name__}; it must be a forager.plugins.{kind.__name__}")
    return registered
