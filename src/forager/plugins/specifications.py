"""The hooks that plug-ins implement. `docs/reference/hooks.md` is generated from the docstrings.

A plug-in implements any of them as a function of the same name with `@forager.hookimpl`; it may leave out arguments it
does not need.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from forager.plugins.markers import hookspec

if TYPE_CHECKING:
    from forager.plugins.contributions import (
        AlertRule,
        Exporter,
        Notifier,
        ScheduledJob,
        Storage,
    )
    from forager.plugins.page import Page
    from forager.products.models import Product
    from forager.records.models import FoundRecord


@hookspec
def extract_records(page: "Page") -> "Iterable[FoundRecord | dict[str, Any]] | None":
    """Returns the records of an HTML page.

    Each is a dict of fields, or a dict with `fields` and optionally `kind`, `key` and `evidence`. Without `kind` it is
    the name of the plug-in; `key` identifies the record on its page across visits. Values are text, numbers, booleans,
    None, dates, decimals, and lists and dicts of them. Runs in a parser process, for every HTML page that is read.
    """


@hookspec
def find_product(page: "Page") -> "Product | dict[str, Any] | None":
    """Returns the product that a page sells, or None.

    A dict has product fields such as `name`, `price`, `currency`, `availability`, `brand`, `sku`, `gtin`, `image_urls`.
    The plug-in is the parser of the domains that select it by name (`parser`), and, if its module has `HOSTS` (a
    regular expression), of hosts that match where `parser` is `auto`. Its module's `VERSION` is a number that rises
    when results change. Runs in a parser process.
    """


@hookspec
def rewrite_url(url: str) -> "str | bool | None":
    """Returns the address of a page in the form that identifies it, False to drop it, or None to leave it unchanged.

    Called with normalised URLs: of links, redirects, sitemaps, seeds and API requests. The result must depend on the
    URL alone and be final: rewriting it again must not change it. A result that breaks this is not used. A dropped link
    is counted as `plugin:NAME`. Runs in workers, commands and the API, so it must be fast.
    """


@hookspec
def register_commands(app: Any) -> None:
    """Adds commands to the program: `app` is a `typer.Typer`.

    A command with the name of one of Forager's is ignored. Runs in the command line only, when a word is not one of
    Forager's commands and for help.
    """


@hookspec
def register_jobs() -> "Iterable[ScheduledJob]":
    """Returns periodic jobs. They run in the scheduler, one after the other, beside Forager's own."""
    return ()


@hookspec
def register_alert_rules() -> "Iterable[AlertRule]":
    """Returns alert rules. They are evaluated with Forager's own, every 30 seconds, by the job `alerts`."""
    return ()


@hookspec
def register_notifiers() -> "Iterable[Notifier]":
    """Returns receivers of alerts: `forager alerts tell SCHEME:TARGET` sends alerts to the one with that scheme."""
    return ()


@hookspec
def register_exporters() -> "Iterable[Exporter]":
    """Returns formats of exports, by name and by how files end.

    They are called in commands, scripts and the API where a format is none of Forager's: `jsonl`, `csv`, `parquet`.
    """
    return ()


@hookspec
def register_storage() -> "Iterable[Storage]":
    """Returns kinds of places for bodies and images: the setting `storage.bucket` names one as `SCHEME:TARGET`."""
    return ()
