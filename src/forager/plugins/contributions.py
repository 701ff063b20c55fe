"""What plug-ins register: jobs, alert rules, receivers of alerts, formats of exports, stores of bodies."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO


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


@dataclass(frozen=True, slots=True)
class Exporter:
    """One format of exports."""

    name: str
    """What `--format` calls it: letters a to z, digits, `-` and `_`, at most 40."""
    extension: str
    """How its files end, without the first dot: `tsv`, `xlsx`."""
    write: Callable[[Iterator[dict[str, Any]], Mapping[str, str], BinaryIO], None]
    """Writes all rows. Gets them as dicts, one after the other, with text, numbers, booleans, None, dates, moments with
    a time zone, decimals, and documents of lists and dicts; the columns in their order, each with its PostgreSQL type;
    and a binary file that can be written, but not read or sought. Runs in a thread, and must take every row."""
    media_type: str = "application/octet-stream"
    """The `Content-Type` of the API's responses."""


@dataclass(frozen=True, slots=True)
class Storage:
    """One kind of places for bodies and images."""

    scheme: str
    """The part of `storage.bucket` before the first colon: `sqlite` of `sqlite:/srv/bodies.db`."""
    open: Callable[[str], Any]
    """Gets the rest, and returns an object with the methods `put`, `get`, `size`, `confirm`, `delete` and `list`, and
    optionally `put_file`. It is called once in each process; the methods are called by several threads at once."""
