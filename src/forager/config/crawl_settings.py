"""Crawl settings: how a domain is crawled. One typed record, resolved as defaults ← profile ← domain.

A layer holds only the values that were chosen in it, by name; `read_layer` validates them as a person writes them in
TOML, JSON or on the command line. Values that may hold passwords (`SECRETS`) are encrypted in storage and never shown.
`resolve` is the only place where layers are combined in Python; the SQL function `apply_crawl_settings` combines the
same two layers for the columns that statements need.
"""

import json
import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from forager.config.values import (
    LABEL,
    Count,
    Duration,
    Header,
    HttpUrl,
    Names,
    Networks,
    PositiveDuration,
    Unit,
    as_written,
)
from forager.errors import UsageError
from forager.fetch.models import Rendering
from forager.images.models import ImagePolicy
from forager.runs.models import Scope
from forager.storage.policy import ContentPolicy

DAY_S = 86_400.0
TEN_YEARS_S = 3650 * DAY_S
HIDDEN = "•••"
MAX_PATTERNS = 200
MAX_HEADERS = 50
DEFAULT = "default"

_WINDOW = re.compile(r"\s*(\d{1,2}):(\d{2})\s*[-–]\s*(\d{1,2}):(\d{2})\s*")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
FORBIDDEN_HEADERS = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "keep-alive", "expect"}
)
"""Headers that the HTTP client writes itself: another value would break the request or the address guard."""


def _check_window(value: str | None) -> str | None:
    if value is None:
        return None
    found = _WINDOW.fullmatch(value)
    hours = [int(part) for part in found.groups()] if found else [24]
    if hours[0] > 23 or hours[1] > 59 or hours[2] > 23 or hours[3] > 59:
        raise ValueError(f"{value!r} is no window; write it like 22:00-06:00")
    if hours[:2] == hours[2:]:
        raise ValueError("a window that ends when it begins would never close or never open")
    return f"{hours[0]:02}:{hours[1]:02}-{hours[2]:02}:{hours[3]:02}"


def _check_zone(value: str) -> str:
    try:
        ZoneInfo(value)
    except (KeyError, ValueError, OSError):
        raise ValueError(f"{value!r} is no time zone; write it like Europe/Berlin or UTC") from None
    return value


def _check_country(value: str | None) -> str | None:
    if value is not None and not (len(value) == 2 and value.isascii() and value.isalpha()):
        raise ValueError(f"{value!r} is no country; write two letters such as DE")
    return value.upper() if value else None


def _check_headers(value: dict[str, str]) -> dict[str, str]:
    for name, text in value.items():
        if not _HEADER_NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name of a header")
        if name.lower() in FORBIDDEN_HEADERS:
            raise ValueError(f"the header {name} is written by the HTTP client and cannot be set")
        if any((character < " " and character != "\t") or character == "\x7f" for character in text):
            raise ValueError(f"the header {name} has a control character")
        if not text.isascii():
            raise ValueError(f"the header {name} may hold ASCII characters only")
    return value


def _check_cookies(value: dict[str, str]) -> dict[str, str]:
    for name, text in value.items():
        if not _HEADER_NAME.fullmatch(name) or any(c <= " " or c in ';,"\\' or c > "~" for c in text):
            raise ValueError(f"{name!r} is no cookie that can be sent; names and values hold no spaces, ; or ,")
    return value


def _check_patterns(value: tuple[str, ...]) -> tuple[str, ...]:
    if len(value) > MAX_PATTERNS:
        raise ValueError(f"at most {MAX_PATTERNS} patterns")
    if any(not pattern or len(pattern) > 2000 for pattern in value):
        raise ValueError("a pattern has between 1 and 2,000 characters")
    return value


def _check_prefixes(value: tuple[str, ...]) -> tuple[str, ...]:
    """URLs are compared with a prefix letter by letter, so its scheme and host are written as in a normalised URL."""
    checked = []
    for prefix in value:
        scheme, colon, rest = prefix.partition("://")
        host, _, path = rest.partition("/")
        if not colon or scheme.lower() not in {"http", "https"} or not host or set(host) & set(" ?#*"):
            raise ValueError(f"{prefix!r} is no URL of a folder; write it like https://shop.example/docs/")
        checked.append(f"{scheme.lower()}://{host.lower()}/{path}")
    return tuple(checked)


def _check_selectors(value: tuple[str, ...]) -> tuple[str, ...]:
    for selector in value:
        _check_selector(selector)
    return value


def _check_selector(value: str | None) -> str | None:
    import turbohtml

    try:
        if value is not None:
            turbohtml.parse("").select(value)
    except turbohtml.SelectorSyntaxError as error:
        raise ValueError(str(error)) from None
    return value


def _read_mapping(value: object) -> object:
    """Reads `Name: value` lines, as headers are written on a command line."""
    if not isinstance(value, list | tuple | Mapping):
        raise ValueError(
            'write a table of names and values, such as { user = "alice" }, or a list such as ["user=alice"]'
        )
    if isinstance(value, Mapping):
        return value
    pairs = [str(line).partition(":" if ":" in str(line) else "=") for line in value]
    return {name.strip(): text.strip() for name, _, text in pairs}


def _check_success(value: str | None) -> str | None:
    kind, colon, rest = (value or "").partition(":")
    if value is not None and (not colon or kind.strip().lower() not in {"url", "text", "cookie"} or not rest.strip()):
        raise ValueError("write url:GLOB, text:WORDS or cookie:NAME")
    return value


Choice = Annotated[str, BeforeValidator(lambda value: value.lower() if isinstance(value, str) else value)]
Patterns = Annotated[Names, AfterValidator(_check_patterns)]
Prefixes = Annotated[Patterns, AfterValidator(_check_prefixes)]
Selector = Annotated[str | None, AfterValidator(_check_selector)]
Selectors = Annotated[Patterns, AfterValidator(_check_selectors)]
Window = Annotated[str | None, AfterValidator(_check_window)]
Zone = Annotated[str, AfterValidator(_check_zone)]
Country = Annotated[str | None, AfterValidator(_check_country)]
Headers = Annotated[
    dict[str, str], BeforeValidator(_read_mapping), AfterValidator(_check_headers), Field(max_length=MAX_HEADERS)
]
Cookies = Annotated[
    dict[str, str], BeforeValidator(_read_mapping), AfterValidator(_check_cookies), Field(max_length=MAX_HEADERS)
]
Fields = Annotated[dict[str, str], BeforeValidator(_read_mapping), Field(max_length=MAX_HEADERS)]
Often = Annotated[PositiveDuration, Field(ge=1, le=TEN_YEARS_S)]
Retained = Annotated[PositiveDuration, Field(ge=DAY_S, le=10 * TEN_YEARS_S)]

CRAWLED, PACE, AGAIN = "What is crawled", "How fast and how much", "Visits again"
REQUESTS, LOGIN, PROXIES, BROWSER = "Requests", "Login", "Proxies", "Browser"
STORED, URLS, WHEN = "What is stored", "URL rules", "When and where"


def _setting(group: str, default: Any, description: str, *, secret: bool = False, **limits: Any) -> Any:
    return Field(
        default,
        description=description,
        repr=not secret,
        json_schema_extra={"group": group, "secret": secret},
        **limits,
    )


class CrawlSettings(BaseModel):
    """How one domain is crawled. The defaults here are replaced by the instance's settings: see `crawl_layers`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # What is crawled
    scope: Scope = _setting(
        CRAWLED,
        Scope.HOST,
        "What of the site is crawled: page (only pages that were ordered), prefix (URLs below `prefixes`), host, "
        "domain (with all subdomains), any (links to other sites too).",
    )
    prefixes: Prefixes = _setting(CRAWLED, (), "Folders that the scope `prefix` includes; orders add theirs.")
    include: Patterns = _setting(CRAWLED, (), "Globs of URLs, of which one must match; seeds always do.")
    exclude: Patterns = _setting(CRAWLED, (), "Globs of URLs that are not visited.")
    max_depth: int = _setting(CRAWLED, 10, "Links from a seed at most.", ge=0, le=1000)
    sitemaps: bool = _setting(CRAWLED, True, "Find and follow its sitemaps.")
    feeds: bool = _setting(CRAWLED, True, "Follow the feeds that its pages announce.")
    documents: bool = _setting(CRAWLED, True, "Visit linked PDF files and read their text.")
    obey_robots: bool = _setting(
        CRAWLED, True, "Obey its robots.txt; switched off only for your own site, with a reason on record."
    )
    # How fast and how much
    delay: Annotated[Duration, Field(le=DAY_S)] = _setting(
        PACE, 1.0, "Time between two requests, at least 50ms; robots.txt may ask for more."
    )
    concurrency: int = _setting(PACE, 5, "Requests open at once.", ge=1, le=1000)
    max_pages: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = _setting(
        PACE, None, "Page budget: new pages in each period (`max_pages_per`)."
    )
    max_pages_per: Literal["run", "day", "week"] = _setting(
        PACE,
        "run",
        "When the page budget renews: with each run (under `forager up`: with each refresh), day or week.",
    )
    count_revisits: bool = _setting(PACE, False, "Charge revisits to the page budget too.")
    max_pages_per_template: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = _setting(
        PACE, None, "Pages of one URL template, such as /item/{n}."
    )
    max_new_urls_per_second: Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)] | None = _setting(
        PACE, None, "New URLs that its pages may add in a second, on average."
    )
    # Visits again
    revisit_every: Often | None = _setting(AGAIN, None, "Each page is visited again that often; none: once.")
    adaptive: bool = _setting(AGAIN, False, "Learn how often each page changes, and visit it by that.")
    revisits_per_day: Annotated[float, Field(ge=0.001, le=10_000_000, allow_inf_nan=False)] | None = _setting(
        AGAIN, None, "Visits that an adaptive domain may spend in a day."
    )
    refresh_every: Often | None = _setting(AGAIN, 14 * DAY_S, "Once exhausted, all of it is visited again after this.")
    # Requests
    user_agent: Header = _setting(REQUESTS, None, "The User-Agent header; by default the instance's.")
    accept_language: Header = _setting(REQUESTS, None, "The Accept-Language header, such as `de, en;q=0.8`.")
    headers: Headers = _setting(REQUESTS, {}, "Headers that are sent with every request to it.", secret=True)
    cookies: Cookies = _setting(REQUESTS, {}, "Cookies that are sent with every request to it.", secret=True)
    verify_tls: bool = _setting(REQUESTS, True, "Verify its certificate.")
    allow_networks: Networks = _setting(
        REQUESTS, (), "Networks that are not public and that it may be reached in, such as 10.0.0.0/8."
    )
    # Login
    username: str | None = _setting(LOGIN, None, "User name of HTTP Basic authentication.", max_length=500)
    password: str | None = _setting(LOGIN, None, "Its password.", secret=True, max_length=2000)
    token: str | None = _setting(LOGIN, None, "A bearer token.", secret=True, max_length=8000)
    login_url: HttpUrl = _setting(LOGIN, None, "The page with the login form.")
    login_fields: Fields = _setting(
        LOGIN, {}, "Fields of the form and their values; hidden fields of the page are sent with them.", secret=True
    )
    login_success: Annotated[str | None, AfterValidator(_check_success)] = _setting(
        LOGIN,
        None,
        "How a successful login is recognised: `url:GLOB` of the page that follows, `text:WORDS` on it, or "
        "`cookie:NAME`; by default the form is gone.",
        max_length=500,
    )
    # Proxies
    proxy: Literal["auto", "never", "always"] = _setting(
        PROXIES, "auto", "auto: its proxies, else the default pool, else direct; never; always: never direct."
    )
    proxy_country: Country = _setting(PROXIES, None, "Only proxies in this country.")
    delay_per_proxy: bool = _setting(PROXIES, False, "The delay holds for each proxy, not for all together.")
    proxy_rotation: PositiveDuration | None = _setting(
        PROXIES, None, "How long a proxy rests after a request to this domain before it is used for it again."
    )
    proxy_max_per_hour: Count | None = _setting(PROXIES, None, "Requests of one proxy to this domain in an hour.")
    # Browser
    rendering: Rendering = _setting(BROWSER, Rendering.NEVER, "A browser runs its scripts: never, auto, always.")
    render_wait_for: Selector = _setting(
        BROWSER, None, "A CSS selector that the browser waits for before the page is read.", max_length=500
    )
    render_scroll: Annotated[int, Field(ge=0, le=50)] = _setting(BROWSER, 0, "Times the browser scrolls to the end.")
    render_click: Selectors = _setting(BROWSER, (), "CSS selectors that the browser clicks, in order.")
    render_screenshot: bool = _setting(BROWSER, False, "Store a screenshot of each rendered page.")
    # What is stored
    content: ContentPolicy = _setting(STORED, ContentPolicy.SIGNALS, "Bodies: signals (none), text, snapshot, archive.")
    images: ImagePolicy = _setting(STORED, ImagePolicy.FOUND, "Images of its pages: none, found, download.")
    parser: str = _setting(STORED, "auto", "The parser of its products.", max_length=100)
    extractors: Names = _setting(
        STORED, ("auto",), "Extractors that run on its pages, by name; auto: all that match; none: none."
    )
    items: bool = _setting(STORED, True, "Store the structured data of its pages: JSON-LD, microdata, RDFa, OpenGraph.")
    search_words: Annotated[int, Field(ge=0, le=20_000)] = _setting(
        STORED, 5000, "Words of the main text that become searchable."
    )
    store_links: bool = _setting(STORED, True, "Store which page links to which.")
    store_external_links: bool = _setting(STORED, False, "Store links out of scope too; they are not visited.")
    history_retention: Retained | None = _setting(STORED, None, "Its visits move to archive files after this time.")
    image_retention: Retained | None = _setting(STORED, None, "Image files are kept this long after they were seen.")
    # URL rules
    trailing_slash: Literal["keep", "strip"] = _setting(URLS, "keep", "Whether `/a/` and `/a` are one page.")
    strip_params: Patterns = _setting(URLS, (), "Globs of query parameters that are removed from its URLs.")
    keep_params: Patterns = _setting(URLS, (), "Globs of query parameters that are kept, also tracking ones.")
    strip_session_ids: bool = _setting(URLS, True, "Remove session ids from its URLs.")
    strip_subdomains: bool = _setting(URLS, False, "Its subdomains are the same site.")
    # When and where
    window: Window = _setting(WHEN, None, "No visits in this time of the day, such as 22:00-06:00.")
    timezone: Zone = _setting(WHEN, "UTC", "The time zone of `window` and of the days of the page budget.")
    priority_boost: Annotated[float, Field(ge=-10_000, le=10_000, allow_inf_nan=False)] = _setting(
        WHEN, 0.0, "Added to its score: positive is sooner."
    )
    worker_label: Annotated[str, Field(pattern=LABEL + "|^$")] = _setting(
        WHEN, "", "Only workers with this label crawl it."
    )


DEFAULT_SETTINGS = CrawlSettings()
FIELDS: Mapping[str, FieldInfo] = CrawlSettings.model_fields
SECRETS = frozenset(name for name, field in FIELDS.items() if (field.json_schema_extra or {}).get("secret"))  # type: ignore[union-attr]
"""Settings whose values are encrypted in storage and hidden in output."""
LOGINS = SECRETS | {"username", "login_url", "login_success", "obey_robots", "verify_tls", "allow_networks"}
"""Settings that hold for one site only: domains that are found through it do not get them."""
ALIASES = {
    "depth": "max_depth",
    "every": "revisit_every",
    "refresh": "refresh_every",
    "keep": "content",
    "policy": "content",
    "links": "store_links",
    "history": "history_retention",
    "image_files": "image_retention",
    "pace_per_proxy": "delay_per_proxy",
    "pages_per_template": "max_pages_per_template",
    "robots": "obey_robots",
}
"""Other words for settings, those of the command line's flags."""
MIN_WORD_LENGTH = 3
MOST_SUGGESTED = 3
REVISITS = frozenset({"revisit_every", "adaptive", "refresh_every"})
"""Changing one of these reschedules the next visits."""
SCOPES = frozenset({"scope", "prefixes", "include", "exclude", "max_depth"})
"""Changing one of these changes which known pages may be visited."""


class Resolved(NamedTuple):
    """The crawl settings that are in force for a domain, each with the layer that it comes from."""

    settings: CrawlSettings
    origins: Mapping[str, str]
    """Name → `default`, `profile NAME` or `domain`."""


def resolve(
    defaults: CrawlSettings,
    profile: Mapping[str, Any] | None = None,
    domain: Mapping[str, Any] | None = None,
    *,
    profile_name: str | None = None,
) -> Resolved:
    """Combines the layers: a value of the domain wins over one of its profile, that over the default."""
    chosen = {**(profile or {}), **(domain or {})}
    origins = dict.fromkeys(FIELDS, DEFAULT)
    origins |= dict.fromkeys(profile or (), f"profile {profile_name}")
    origins |= dict.fromkeys(domain or (), "domain")
    if not chosen:
        return Resolved(defaults, origins)
    return Resolved(CrawlSettings.model_validate(defaults.model_dump() | chosen), origins)


def resolve_plain(chosen: str | None) -> CrawlSettings:
    """Returns settings without secrets from their stored form, over the defaults of the record."""
    return resolve(DEFAULT_SETTINGS, domain=json.loads(chosen)).settings if chosen else DEFAULT_SETTINGS


def read_layer(values: Mapping[str, Any]) -> dict[str, Any]:
    """Validates the values of one layer as a person writes them; returns them by their own names, as JSON values."""
    named: dict[str, Any] = {}
    for word, value in values.items():
        name = canonical_name(word)
        if name in named:
            raise UsageError(f"{word!r} and {name!r} are the same setting; give one of them.", field=word)
        named[name] = value
    try:
        layer = CrawlSettings.model_validate({name: _clear(name, value) for name, value in named.items()})
    except ValidationError as error:
        raise _usage_error(error) from None
    dumped = layer.model_dump(mode="json")
    chosen = {name: dumped[name] for name in named}
    check_authentication(chosen)
    return chosen


def check_authentication(chosen: Mapping[str, Any]) -> None:
    """Rejects settings that would both write the header Authorization."""
    if chosen.get("username") and chosen.get("token"):
        raise UsageError(
            "username and token exclude each other: a request is authorised by a password or by a token. "
            "Take one of them back.",
            field="token",
        )


def is_hidden(value: Any) -> bool:
    """Returns whether a value is, or contains, the text that is shown instead of a secret."""
    return value == HIDDEN or (isinstance(value, Mapping) and HIDDEN in value.values())


def restore_hidden(values: Mapping[str, Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Replaces each `•••` by the secret that is stored: values that were shown can be sent back as they are."""
    restored = dict(values)
    for word, value in values.items():
        name = ALIASES.get(word.replace("-", "_"), word.replace("-", "_"))
        if name not in SECRETS or not is_hidden(value):
            continue
        secret = stored.get(name)
        if isinstance(value, Mapping):
            known = secret if isinstance(secret, Mapping) else {}
            restored[word] = {key: known.get(key, text) if text == HIDDEN else text for key, text in value.items()}
        elif secret is not None:
            restored[word] = secret
        if is_hidden(restored[word]):
            raise UsageError(f"{name}: {HIDDEN} stands for a stored secret, and none is stored; write it.", field=name)
    return restored


def canonical_name(word: str) -> str:
    """Returns the setting that a word names, with dashes or underscores; raises UsageError for an unknown one."""
    name = word.replace("-", "_")
    name = ALIASES.get(name, name)
    if name not in FIELDS:
        raise UsageError(f"There is no crawl setting {word!r}.{_suggest(name)}", field=word)
    return name


def show_value(name: str, value: Any) -> Any:
    """Returns a value as it is written in a file, without secrets."""
    if not value and isinstance(value, tuple | list | dict):
        return {} if isinstance(value, dict) else []
    if value is None:
        return None
    if name in SECRETS:
        return dict.fromkeys(value, HIDDEN) if isinstance(value, Mapping) else HIDDEN
    if isinstance(value, list):
        value = tuple(value)
    return as_written(value, _metadata(name))


def show_settings(resolved: Resolved) -> list[dict[str, Any]]:
    """Returns every effective value with its origin: `{name, value, origin}`."""
    return [
        {"name": name, "value": show_value(name, getattr(resolved.settings, name)), "origin": resolved.origins[name]}
        for name in FIELDS
    ]


def describe_changes(changes: Mapping[str, Any]) -> str:
    """Returns `delay 2s, revisit_every 6h` for the history and the operator."""
    return ", ".join(f"{name} {_in_words(name, value)}" for name, value in changes.items())


def _in_words(name: str, value: Any) -> str:
    shown = show_value(name, value)
    match shown:
        case None:
            return "none"
        case bool():
            return "on" if shown else "off"
        case list():
            return " ".join(map(str, shown)) or "none"
        case dict():
            return ", ".join(shown) or "none"
        case float():
            return f"{shown:,g}"
        case _:
            return str(shown)


@cache
def _metadata(name: str) -> list[Any]:
    """Returns the annotations of a setting, also those inside `… | None`."""
    field = FIELDS[name]
    found = list(field.metadata)
    for part in getattr(field.annotation, "__args__", ()):
        found += getattr(part, "__metadata__", ())
    return found


@cache
def choices_of(name: str) -> tuple[str, ...]:
    """Returns the values that a setting may have, where these are a few words."""
    annotation = FIELDS[name].annotation
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return tuple(annotation)
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def is_duration(name: str) -> bool:
    """Returns whether a setting is a time, written like 6h."""
    return any(isinstance(each, Unit) and each.is_duration for each in _metadata(name))


@cache
def kind_of(name: str) -> str:
    """Returns what kind of value a setting has: flag, choice, duration, number, list, mapping or text."""
    kind = plain_type(FIELDS[name].annotation)
    if choices_of(name):
        return "choice"
    if is_duration(name):
        return "duration"
    return {bool: "flag", int: "number", float: "number", tuple: "list", dict: "mapping"}.get(kind, "text")


def plain_type(annotation: Any) -> type:
    """Returns the plain type of an annotation, of `tuple[str, ...] | None` the tuple."""
    if get_origin(annotation) is Annotated:
        return plain_type(get_args(annotation)[0])
    if type(None) in get_args(annotation):
        return plain_type(next(part for part in get_args(annotation) if part is not type(None)))
    kind: type = get_origin(annotation) or annotation
    return kind


def group_of(name: str) -> str:
    """Returns the title under which a setting is listed."""
    extra = FIELDS[name].json_schema_extra
    return str(extra["group"]) if isinstance(extra, dict) else ""


def describe_fields(defaults: CrawlSettings) -> list[dict[str, Any]]:
    """Returns what can be set, for forms and references."""
    return [
        {
            "name": name,
            "group": group_of(name),
            "kind": kind_of(name),
            "choices": list(choices_of(name)),
            "default": show_value(name, getattr(defaults, name)),
            "is_secret": name in SECRETS,
            "may_be_none": _is_optional(name),
            "description": field.description,
        }
        for name, field in FIELDS.items()
    ]


def _clear(name: str, value: Any) -> Any:
    """`none`, `never` and an empty text mean no value where there may be none."""
    if isinstance(value, str) and value.strip().lower() in {"", "none", "never"} and _is_optional(name):
        return None
    return value


@cache
def _is_optional(name: str) -> bool:
    return type(None) in getattr(FIELDS[name].annotation, "__args__", ())


def _suggest(name: str) -> str:
    import difflib

    close = difflib.get_close_matches(name, [*FIELDS, *ALIASES], n=1) or _mentioning(name)
    return f" Did you mean {' or '.join(map(repr, close))}?" if close else " `forager domain NAME settings` lists all."


def _mentioning(name: str) -> list[str]:
    """Returns the settings whose descriptions have the words of an unknown name, those with most of them first."""
    words = [word for word in name.split("_") if len(word) > MIN_WORD_LENGTH]
    counts = {each: sum(word in (field.description or "") for word in words) for each, field in FIELDS.items()}
    best = max(counts.values(), default=0)
    return [each for each, count in counts.items() if count == best][:MOST_SUGGESTED] if best else []


def _usage_error(error: ValidationError) -> UsageError:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    name = str(first["loc"][0])
    text = str(first["msg"]).removeprefix("Value error, ")
    return UsageError(f"{name}: {text[:1].lower()}{text[1:]}.", field=name)


def changed_names(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterable[str]:
    """Returns the settings whose values differ between two layers, in the order of the record."""
    missing = object()
    return [name for name in FIELDS if before.get(name, missing) != after.get(name, missing)]
