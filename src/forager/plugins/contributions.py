"""What plug-ins register: jobs, alert rules, receivers of alerts."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ScheduledJob:
    """Periodic work."""

    name: str
    """Letters a to z and `_`, at most 40."""
    every: str
    """How often, as people write it: `10m`, `1d`."""
    run: Callable[[Any], str | Awaitable[str | None] | None]
    """Gets the settings (`forager.config.settings.Settings`), does the work and returns a short summary.
    It runs in a thread of its own; a coroutine gets an event loop there."""
    timeout: str = "10m"
    """After this time the run has failed."""


@dataclass(frozen=True, slots=True)
class RuleFinding:
    """One condition that a rule found."""

    message: str
    """One sentence."""
    subject: str = ""
    """What it is about, such as a domain; each subject has an alert of its own."""
    value: float = 0.0
    """A number that the alert keeps."""


@dataclass(frozen=True, slots=True)
class AlertRule:
    """One alert rule."""

    name: str
    """Letters a to z, digits and `_`, at most 40."""
    says: str
    """What it checks, in a sentence."""
    check: Callable[[Any], Iterable[RuleFinding]]
    """Gets the measurements that Forager's own rules get (`forager.alerts.rules.RuleInput`), and returns what is wrong
    now."""
    severity: str = "warning"
    """`warning` or `critical`."""
    hold: str = "5m"
    """How long a condition lasts before an alert is raised."""
    quiet: str = "5m"
    """How long it has to be over before the alert is resolved."""


@dataclass(frozen=True, slots=True)
class Notifier:
    """One kind of receivers of alerts."""

    scheme: str
    """The part of a target before the colon: `telegram` of `telegram:my-chat`."""
    send: Callable[[str, Mapping[str, Any]], None]
    """Sends an alert; gets the rest of the target, and the document that a webhook would receive. Runs in a thread;
    the call is repeated later if it raises."""
