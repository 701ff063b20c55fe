"""The domain settings an operator may change, and their bounds. Pure."""

import re
from collections.abc import Mapping
from math import isfinite
from typing import Any, NamedTuple

from forager.config.values import LABEL
from forager.errors import UsageError
from forager.fetch.models import Rendering
from forager.images.models import ImagePolicy
from forager.parsing.sites import AUTO, parsers
from forager.storage.policy import ContentPolicy

DAY_S = 86_400.0
TEN_YEARS_S = 3650 * DAY_S


class Bounds(NamedTuple):
    name: str
    low: float
    high: float
    is_whole: bool = False


NUMBERS = {
    "crawl_delay_s": Bounds("The delay in seconds", 0, DAY_S),
    "max_concurrent_requests": Bounds("The number of requests at once", 1, 1000, is_whole=True),
    "max_pages_per_run": Bounds("The number of pages per run", 1, 2**31 - 1, is_whole=True),
    "max_pages_per_template": Bounds("The number of pages per template", 1, 2**31 - 1, is_whole=True),
    "revisit_every_s": Bounds("The frequency in seconds", 1, TEN_YEARS_S),
    "revisits_per_day": Bounds("The number of revisits per day", 0.001, 10_000_000),
    "refresh_every_s": Bounds("The time between refreshes in seconds", 1, TEN_YEARS_S),
    "history_retention_s": Bounds("The time visits stay in the database, in seconds,", DAY_S, 10 * TEN_YEARS_S),
    "image_retention_s": Bounds("The time files of images are kept, in seconds,", DAY_S, 10 * TEN_YEARS_S),
}
WINDOW = ("maintenance_start", "maintenance_end")
REVISITS = frozenset({"revisit_every_s", "is_adaptive", "refresh_every_s"})
"""Changing one of these reschedules the next visits."""


WORDS = {
    "crawl_delay_s": "delay",
    "max_concurrent_requests": "requests at once",
    "max_pages_per_run": "pages per run",
    "max_pages_per_template": "pages per template",
    "revisit_every_s": "visited again",
    "is_adaptive": "adaptive",
    "revisits_per_day": "revisits per day",
    "refresh_every_s": "refreshed after",
    "window": "window",
    "content_policy": "keeps",
    "images_policy": "images",
    "rendering": "browser",
    "proxy_country": "proxies in",
    "paces_per_proxy": "pace per proxy",
    "parser_name": "parser",
    "verifies_tls": "verifies certificates",
    "stores_links": "stores links",
    "history_retention_s": "history stays",
    "image_retention_s": "files of images stay",
    "worker_label": "workers with the label",
}
SPANS = (("w", 604_800), ("d", 86_400), ("h", 3600), ("m", 60))


def in_words(changes: Mapping[str, Any]) -> str:
    """Returns `delay 2s, visited again every 6h, window 22:00-06:00 UTC`, for the history and the operator."""
    shown = dict(changes)
    if "maintenance_start" in shown:
        start, end = shown.pop("maintenance_start"), shown.pop("maintenance_end")
        shown["window"] = f"{start}-{end} UTC" if start else None
    return ", ".join(f"{WORDS[column]} {_in_words(column, value)}" for column, value in shown.items())


def span(seconds: float) -> str:
    """Formats a duration as a user would type it: `6h`, `90m`, `1.5s`."""
    for unit, length in SPANS:
        if seconds >= length and seconds % length == 0:
            return f"{seconds / length:g}{unit}"
    return f"{seconds:g}s"


def _in_words(column: str, value: Any) -> str:
    match value:
        case None:
            return "never" if column == "revisit_every_s" else "default"
        case bool():
            return "on" if value else "off"
        case int() | float():
            often = "every " if column == "revisit_every_s" else ""
            return often + span(value) if column.endswith("_s") else f"{value:,g}"
        case _:
            return str(value)


def validate_changes(changes: Mapping[str, Any]) -> None:
    """Validates before anything is written; the database accepts what passes here."""
    if not changes:
        raise UsageError("Nothing to set.")
    for column, value in changes.items():
        try:
            _validate_value(column, value)
        except UsageError as error:
            error.field = column
            raise
    _validate_window(changes)


def _validate_value(column: str, value: Any) -> None:
    if column in NUMBERS:
        if value is not None:
            _validate_range(NUMBERS[column], value)
    elif column == "content_policy":
        _validate_policy(value)
    elif column == "images_policy":
        _validate_images(value)
    elif column == "rendering":
        _validate_rendering(value)
    elif column == "proxy_country":
        _validate_country(value)
    elif column == "parser_name":
        _validate_parser(value)
    elif column == "worker_label":
        _validate_label(value)
    elif column not in {"is_adaptive", "paces_per_proxy", "stores_links", "verifies_tls", *WINDOW}:
        raise UsageError(f"A domain has no {column!r} that can be set.")


def _validate_window(changes: Mapping[str, Any]) -> None:
    if len(given := [changes.get(edge) for edge in WINDOW if changes.get(edge) is not None]) == 1:
        raise UsageError("A maintenance window needs a beginning and an end.", field="maintenance_start")
    if given and given[0] == given[1]:
        raise UsageError(
            "A maintenance window that ends when it begins would never close or never open.", field="maintenance_end"
        )


def _validate_range(bounds: Bounds, value: float) -> None:
    if not isfinite(value) or not bounds.low <= value <= bounds.high:
        raise UsageError(f"{bounds.name} must be between {bounds.low:,g} and {bounds.high:,.0f}, not {value:g}.")
    if bounds.is_whole and value != int(value):
        raise UsageError(f"{bounds.name} must be a whole number, not {value:g}.")


def _validate_country(value: str | None) -> None:
    if value is not None and not (len(value) == 2 and value.isascii() and value.isalpha() and value.isupper()):
        raise UsageError(f"{value!r} is no country; write two letters such as DE.")


def _validate_parser(value: str | None) -> None:
    known = [AUTO, *parsers()]
    if value is not None and value not in known:
        raise UsageError(f"There is no parser {value!r}; there are {', '.join(known)}.")


def _validate_label(value: str | None) -> None:
    if value is not None and not re.fullmatch(LABEL, value):
        raise UsageError(
            f"{value!r} is no label; write up to 63 small letters, digits, dots, dashes or underscores, such as eu."
        )


def _validate_images(value: object) -> None:
    if value is not None and value not in set(ImagePolicy):
        raise UsageError(f"There is no policy for images {value!r}; there are {', '.join(ImagePolicy)}.")


def _validate_rendering(value: object) -> None:
    if value is not None and value not in set(Rendering):
        raise UsageError(f"A browser cannot be used {value!r}; write {', '.join(Rendering)}.")


def _validate_policy(value: object) -> None:
    if value is not None and value not in set(ContentPolicy):
        known = ", ".join(ContentPolicy)
        raise UsageError(f"There is no content policy {value!r}; there are {known}.")
