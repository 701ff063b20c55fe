"""Every setting, in sections: `fetch.timeout` is `timeout` in the section `[fetch]` of `forager.toml`,
`FORAGER_FETCH_TIMEOUT` in the environment, and `settings.fetch.timeout` in Python.

Durations are float seconds, sizes are bytes. Advanced settings are those that few instances change; `forager settings`
lists them with `--all`. Modules do not read settings: the layer above passes them the values they need.
"""

from collections.abc import Mapping
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict
from pydantic.fields import FieldInfo

from forager import __version__
from forager.config.home import default_home
from forager.config.values import (
    BodyPlace,
    BrokerUrl,
    Bucket,
    Count,
    CountOrZero,
    DatabaseUrl,
    Duration,
    Header,
    HttpUrl,
    Keys,
    Labels,
    Names,
    Networks,
    Ports,
    PositiveDuration,
    PublicUrl,
    RedisUrl,
    Share,
    Size,
    SizeOrZero,
    TimeOfDay,
    as_written,
)

DAY_S = 86400.0
KIB, MIB, GIB = 1024, 1024**2, 1024**3


def _setting(default: Any, description: str, *, advanced: bool = False, secret: bool = False, **limits: Any) -> Any:
    extra: JsonDict = {"advanced": advanced, "secret": secret}
    return Field(default, description=description, repr=not secret, json_schema_extra=extra, **limits)


def _advanced(default: Any, description: str, **limits: Any) -> Any:
    return _setting(default, description, advanced=True, **limits)


def _extra(field: FieldInfo) -> Mapping[str, Any]:
    extra = field.json_schema_extra
    return extra if isinstance(extra, Mapping) else {}


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Database(Section):
    url: DatabaseUrl = _setting(None, "An external PostgreSQL 15 or newer instead of the embedded one.", secret=True)
    prepared_statements: bool = _advanced(
        True, "Whether connections keep prepared statements; false for workers behind a pooler in transaction mode."
    )
    vacuum_schedule: TimeOfDay = _advanced("Sun 04:00", "When all tables are vacuumed (UTC), or never.")


class Redis(Section):
    url: RedisUrl = _setting(
        None,
        "A Redis server through which processes share caches and limits; without it PostgreSQL does that.",
        secret=True,
    )


class Dispatch(Section):
    mode: str = _setting(
        "inline",
        "How workers learn of domains that are due: inline (they poll the database), or celery (through RabbitMQ).",
        pattern="^(inline|celery)$",
    )
    broker_url: BrokerUrl = _setting(
        "amqp://guest:guest@127.0.0.1:5672//",
        "The RabbitMQ server for `dispatch.mode = celery`; the virtual host follows the port.",
        secret=True,
    )
    queue_prefix: str | None = _advanced(
        None,
        "Prefix of the names of queues, so that several instances can share a broker.",
        pattern=r"^[A-Za-z0-9_.-]{0,64}$",
    )


class Log(Section):
    level: str = _setting(
        "warning", "Lowest level that is logged to standard error.", pattern="^(debug|info|warning|error)$"
    )
    format: str = _setting("text", "text for people, or json for programs.", pattern="^(text|json)$")


class Politeness(Section):
    delay: Duration = _setting(
        1.0, "Time between two requests to one domain, at least 50ms; robots.txt may ask for more."
    )
    adaptive_delay: bool = _setting(True, "Whether the delay grows when a server becomes slower.")
    max_requests_per_domain: Count = _setting(5, "Requests in flight to one domain.")
    max_requests_per_ip: CountOrZero = _advanced(
        16, "Requests of one worker in flight to one IP address, over all its domains; 0: no limit."
    )
    delay_per_ip: Duration = _advanced(
        0.0, "Time between two requests of one worker to one IP address, over all its domains."
    )
    no_delay_hosts: Names = _advanced((), "Hosts or networks crawled without a delay: benchmarks and your own servers.")
    no_delay_max_requests: Count = _advanced(16, "Requests in flight to one domain that is crawled without a delay.")
    robots_agent: str = _advanced(
        "Forager", "The product name that is matched with the rules of robots.txt.", min_length=1
    )
    robots_ttl: Duration = _advanced(3600.0, "How long a robots.txt is cached.")


class Fetch(Section):
    user_agent: Header = _setting(None, "The whole User-Agent header; by default made of version and contact.")
    allow_networks: Networks = _setting((), "Networks that are crawled although they are not public.")
    allow_ports: Ports = _advanced(
        (80, 443, 8000, 8080, 8443), "Ports that are connected to; in allowed networks every port is."
    )
    timeout: PositiveDuration = _setting(30.0, "Time for a whole request, from connecting to the last byte.")
    connect_timeout: PositiveDuration = _advanced(10.0, "Time for connecting, TLS included.")
    first_byte_timeout: PositiveDuration = _advanced(
        20.0, "Time from sending the request to the first byte of the response."
    )
    min_rate: float = _advanced(
        64.0,
        "Bytes per second; a response that arrives slower is abandoned. 0: no minimum.",
        ge=0,
        allow_inf_nan=False,
    )
    min_rate_window: PositiveDuration = _advanced(10.0, "The time over which that rate is measured.")
    max_page_size: Size = _setting(10 * MIB, "Largest body of a page, compressed or not.")
    max_redirects: int = _advanced(5, "Redirects in a row before a page counts as failed.", ge=0, le=20)
    cookies: bool = _setting(True, "Whether cookies of a site are kept and sent back to it; they are stored encrypted.")
    max_requests_per_worker: Count = _advanced(256, "Requests in flight in one worker.")


class Crawl(Section):
    max_depth: int = _setting(10, "Links from a seed; deeper pages are recorded but not fetched.", ge=0, le=1000)
    max_links_per_page: Count = _advanced(5000, "Links taken from one page.")
    sitemaps: bool = _setting(True, "Find and follow the sitemaps of sites; domains may say otherwise.")
    feeds: bool = _setting(True, "Follow the feeds that pages announce; domains may say otherwise.")
    max_sitemaps: Count = _advanced(10_000, "Sitemaps and feeds of one site that are followed.")
    min_sitemap_interval: PositiveDuration = _advanced(3600.0, "Shortest time between readings of a sitemap or feed.")
    max_sitemap_interval: PositiveDuration = _advanced(
        7 * DAY_S, "Longest time between readings of a sitemap; of a feed, a seventh of it."
    )
    max_near_duplicates: Count = _advanced(50, "Near-duplicate pages of one URL template before its links are skipped.")
    max_calendar_pages: Count = _advanced(200, "Pages fetched of one calendar.")
    max_pages_per_template: CountOrZero = _advanced(
        0, "Pages fetched of one URL template of a domain, such as /item/{n}; 0: no limit."
    )
    max_new_urls_per_second: CountOrZero = _advanced(
        100,
        "New URLs that the pages of one domain may add in a second, on average; over it, it waits. 0: no limit.",
    )
    max_subdomains: Count = _advanced(
        1000, "Subdomains of one registrable domain that are added from links; seeds do not count."
    )
    max_wait: Duration = _advanced(120.0, "A crawl ends instead of waiting longer than this for its last domains.")
    domain_order: str = _advanced(
        "smart",
        "Which domain is next: smart (by score), or seed_order (in the order they were added).",
        pattern="^(smart|seed_order)$",
    )
    dependents: str = _advanced(
        "cancel",
        "What happens to a task that depends on one that failed or was cancelled: cancel, or run.",
        pattern="^(cancel|run)$",
    )


class Failures(Section):
    max_retries: int = _setting(3, "New tasks after a failed visit.", ge=0, le=20)
    breaker_failures: Count = _advanced(5, "Failed requests in a row that open the circuit breaker of a domain.")
    breaker_reset: Duration = _advanced(60.0, "Time until an open circuit breaker lets single requests through.")
    block_after: Count = _advanced(10, "Errors of one kind in a row, such as 403, before a domain is blocked.")
    unreachable_after: Count = _advanced(
        5, "Failed connections, or responses 429, in a row before a domain goes into cooldown."
    )
    max_unblocks: int = _advanced(
        3, "Times a blocked domain is tried again before it stays blocked until an operator unblocks it.", ge=0, le=1000
    )


class Cooldown(Section):
    login: PositiveDuration = _advanced(30 * DAY_S, "Cooldown of a domain that requires a login.")
    forbidden: PositiveDuration = _advanced(14 * DAY_S, "Cooldown of a domain that keeps responding with 403.")
    challenge: PositiveDuration = _advanced(
        7 * DAY_S, "Cooldown of a domain that keeps responding with a captcha or another check of its visitors."
    )
    rate_limited: PositiveDuration = _advanced(7 * DAY_S, "Cooldown of a domain that keeps responding with 429.")
    server_error: PositiveDuration = _advanced(7 * DAY_S, "Cooldown of a domain that keeps responding with 5xx.")
    unreachable: PositiveDuration = _advanced(
        7 * DAY_S, "Longest cooldown of a domain that does not respond: 5m at first, longer each time."
    )
    robots: PositiveDuration = _advanced(90 * DAY_S, "Cooldown of a domain whose robots.txt disallows everything.")


class Worker(Section):
    labels: Labels = _setting(
        (), "Labels of the workers on this machine, such as eu; they also get the domains that require one of them."
    )
    max_domains: CountOrZero = _advanced(
        0,
        "Domains that one worker leases at once; 0: as many as fit into a sixteenth of the machine's memory, "
        "2,000 to 20,000.",
    )
    parser_processes: int = _setting(
        1,
        "Processes that parse pages for a worker; 0: the worker parses them itself, without limits of time and memory, "
        "unless there are plug-ins that read pages.",
        ge=0,
        le=64,
    )
    lease: Annotated[Duration, Field(ge=2)] = _advanced(
        1800.0, "Duration of the lease of a domain; renewed with every batch."
    )
    lease_max_pages: Count = _advanced(1000, "Pages of one domain before the next best one gets its turn.")
    lease_max_time: PositiveDuration = _advanced(
        60.0, "Time after which a domain is released, if others wait and the worker has no slot for them."
    )
    heartbeat: PositiveDuration = _advanced(30.0, "How often a worker reports that it is alive.")
    dead_after: PositiveDuration = _advanced(120.0, "A worker without a heartbeat for this long loses its leases.")
    batch_pages: int = _advanced(
        200, "Pages written in one batch; up to twice as many if the writer is behind.", ge=1, le=1000
    )
    batch_interval: Annotated[PositiveDuration, Field(ge=0.001)] = _advanced(0.5, "Longest time between two batches.")
    buffer_pages: Count = _advanced(
        2000, "Visits a worker buffers while the database is unavailable; then it stops sending requests."
    )
    buffer_size: Size = _advanced(64 * MIB, "Approximate memory for these visits.")
    url_cache_size: Count = _advanced(7_000_000, "URLs a worker caches to save look-ups; 24 bytes each.")


class Browser(Section):
    rendering: str = _setting(
        "never",
        "Whether a browser runs the scripts of pages: never, auto (where the plain page is empty), or always.",
        pattern="^(never|auto|always)$",
    )
    executable: Path | None = _setting(
        None, "The browser to run; by default the Chromium that is installed, its headless shell first."
    )
    sandbox: bool = _advanced(True, "Whether Chromium must run in its sandbox; as root it cannot, and runs without.")
    max_pages: int = _advanced(2, "Pages that the browser of one worker renders at once.", ge=1, le=64)
    max_memory: Size = _advanced(1536 * MIB, "A browser that uses more memory is restarted.")
    timeout: PositiveDuration = _setting(20.0, "Time after which a page in the browser is taken as it is.")
    max_requests: CountOrZero = _advanced(60, "Requests that the scripts of one page may send.")
    max_download: Size = _advanced(20 * MIB, "Bytes that these requests may transfer.")


class Images(Section):
    policy: str = _setting(
        "found",
        "Images of pages: none, found (recorded with the pages they are on), or download (stored too).",
        pattern="^(none|found|download)$",
    )
    max_size: Size = _setting(20 * MIB, "Largest image file.")
    max_pixels: Count = _advanced(40_000_000, "Largest number of pixels of an image that is decoded.")


class Refresh(Section):
    enabled: bool = _setting(True, "Whether exhausted domains are crawled again after `refresh.interval`.")
    interval: PositiveDuration = _setting(14 * DAY_S, "Time from the end of a domain's crawl to its refresh.")


class Storage(Section):
    content_policy: str = _setting(
        "signals",
        "What is stored of a page's body unless its domain says otherwise: signals (nothing), text (the "
        "main text), snapshot (the newest), or archive (everything).",
        pattern="^(signals|text|snapshot|archive)$",
    )
    bucket: BodyPlace = _setting(
        None,
        "A bucket for bodies and images, such as s3://bucket/folder, or SCHEME:TARGET of a plug-in; by default a local "
        "folder.",
    )
    s3_endpoint: str | None = _setting(
        None, "The URL of the S3 server; by default AWS_ENDPOINT_URL, or Amazon's own of the region."
    )
    s3_region: str | None = _setting(None, "The bucket's region; by default AWS_REGION, or us-east-1.")
    warc_max_size: Size = _advanced(GIB, "A WARC file of this size is closed and the next one opened.")
    warc_max_age: PositiveDuration = _advanced(DAY_S, "A WARC file of this age is closed and the next one opened.")


class Retention(Section):
    visits: PositiveDuration = _setting(
        7 * DAY_S, "How long successful visits stay in the database before they move to archive files."
    )
    failed_visits: PositiveDuration = _setting(30 * DAY_S, "The same for visits that failed.")
    pages: PositiveDuration = _advanced(
        90 * DAY_S, "The same for the signals of pages that no longer exist, since they were last parsed."
    )
    bodies: PositiveDuration = _setting(
        30 * DAY_S, "How long a snapshot or a text is kept after the last visit that confirmed it."
    )
    images: Duration = _setting(
        0.0, "How long an image file is kept after it was last seen, unless its domain says otherwise; 0: forever."
    )
    robots_requests: PositiveDuration = _advanced(
        90 * DAY_S, "How long requests for robots.txt are kept; they prove that the delay was observed."
    )
    domain_history: PositiveDuration = _advanced(
        365 * DAY_S, "How long state changes of domains are kept; the last 20 of each domain always are."
    )


class Archive(Section):
    schedule: TimeOfDay = _setting("03:00", "When old visits move to archive files (UTC), or never.")
    folder: Path | None = _advanced(None, "Folder of archive files; by default `cold` in the data folder.")
    bucket: Bucket = _setting(
        None, "A bucket that archive files are copied to, such as s3://bucket/folder; by default none."
    )


class Backup(Section):
    schedule: TimeOfDay = _setting("02:00", "When the daily backup is made (UTC), or never.")
    folder: Path | None = _setting(None, "Folder of backups; by default `backups` in the data folder.")
    bucket: Bucket = _setting(
        None, "A bucket that the daily backup is copied to, such as s3://bucket/folder; by default none."
    )
    retention: PositiveDuration = _setting(7 * DAY_S, "How long backups in that folder and bucket are kept.")


class Search(Section):
    backend: str = _setting(
        "postgres",
        "What searches pages and products: postgres, or opensearch (an OpenSearch or Elasticsearch server).",
        pattern="^(postgres|opensearch)$",
    )
    url: HttpUrl = _setting(
        None,
        "The search server for `search.backend = opensearch`, such as https://user:password@host:9200.",
        secret=True,
    )
    index_prefix: str = _advanced(
        "forager-",
        "Prefix of the names of indexes, so that several instances can share a search server.",
        pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$",
    )
    ca_file: Path | None = _advanced(None, "The certificate authority of the search server, if it is not a public one.")
    words_per_page: int = _advanced(5000, "Words of the main text that become searchable.", ge=0, le=20_000)


class Alerts(Section):
    max_error_rate: Share = _setting(
        0.2, "Alert when a larger share of visits ends with 4xx, 5xx or without a response."
    )
    min_success_rate: Share = _setting(0.5, "Alert when a smaller share of visits ends with a page.")
    max_frontier_growth: float = _advanced(
        0.1, "Alert when the frontier grows by a larger share per minute.", gt=0, allow_inf_nan=False
    )
    min_proxies: CountOrZero = _setting(3, "Alert when fewer proxies of a domain's pool work.")
    max_proxy_failure_rate: Share = _advanced(
        0.1, "Alert when a larger share of a domain's requests fails at its proxies."
    )
    max_parse_drop: Share = _advanced(
        0.2,
        "Alert when the share of a domain's products, or of values of an extractor, that can be read drops by more.",
    )
    min_disk_free: Share = _setting(0.05, "Alert when a smaller share of the disk is free.")
    min_disk_free_size: SizeOrZero = _setting(GIB, "Alert when less of the disk is free.")
    max_idle_time: PositiveDuration = _setting(
        600.0, "Alert when no visit ended for this long although work is due and workers are alive."
    )


class Model(Section):
    url: HttpUrl = _setting(
        None,
        "The address of a model for extractors with the table [model], up to and without /chat/completions: "
        "http://127.0.0.1:11434/v1. Without it no text is sent anywhere.",
    )
    name: str | None = _setting(None, "The name of the model at that address.", min_length=1, max_length=200)
    api_key: Header = _setting(None, "Sent to that address as a bearer token.", secret=True)
    max_calls_per_day: CountOrZero = _setting(1000, "Requests to the model per day (UTC), failed ones too; 0: none.")
    timeout: PositiveDuration = _setting(120.0, "Time for one request to the model.")
    allow_networks: Networks = _setting(
        (), "Networks where the model may be although they are not public: 127.0.0.1/32, or your own."
    )
    max_characters: Annotated[int, Field(ge=100, le=2_000_000)] = _setting(
        24_000, "Characters of the text of a page that are sent; the rest is left out."
    )


class Plugins(Section):
    enabled: bool = _setting(
        True, "Whether plug-ins are loaded: files of the folder plugins in the data folder, and installed packages."
    )
    disabled: Names = _setting((), "Names of plug-ins that are not loaded.")
    timeout: Annotated[PositiveDuration, Field(ge=0.1, le=60)] = _advanced(
        10.0, "Time limit of one call of a plug-in in a parser process."
    )


class Api(Section):
    host: str = _setting("127.0.0.1", "The address the API listens on.", min_length=1)
    port: int = _setting(8600, "The port it listens on; 0: any free one.", ge=0, le=65_535)
    public_url: PublicUrl = _setting(
        None, "How browsers reach the API, such as https://forager.example; by default its host and port."
    )
    trusted_proxies: Networks = _setting(
        (), "Networks of reverse proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted."
    )
    processes: int = _setting(1, "Processes that serve the API on that port; each uses one core at most.", ge=1, le=64)
    session_idle_timeout: Annotated[Duration, Field(ge=60)] = _setting(
        2 * 3600.0, "A session that is not used for this long ends; each lasts a day at most."
    )
    rate_limit_anonymous: Count = _advanced(10, "Requests per minute from one address without a login.")
    rate_limit_user: Count = _setting(100, "Requests per minute of one user.")
    rate_limit_admin: Count = _setting(500, "Requests per minute of one admin.")
    rate_limit_seeds: Count = _advanced(10, "Requests per minute of one admin that add seeds.")
    firecrawl: bool = _setting(
        False, "Whether scrape, crawl and map are served as Firecrawl's API has them, at /v1 and /v2."
    )
    database_connections: int = _advanced(10, "Database connections of one API process.", ge=2, le=200)
    statement_timeout: PositiveDuration = _advanced(10.0, "A database statement of the API is cancelled after this.")
    max_body_size: Size = _advanced(MIB, "Largest body of a request.")
    max_seeds_size: Size = _advanced(16 * MIB, "Largest list of seeds in one request.")
    max_clients: int = _advanced(
        2000, "Client connections to one API process, as far as its file handles allow.", ge=10, le=100_000
    )
    max_clients_per_address: int = _advanced(
        500, "Client connections from one address; those of trusted proxies are not counted.", ge=5, le=100_000
    )
    max_live_clients: int = _advanced(
        200, "Clients of one API process that receive live metrics at once.", ge=1, le=10_000
    )


class Settings(Section):
    """All settings, with defaults for a laptop."""

    home: Path = Field(default_factory=default_home, description="Folder for the embedded database and stored files.")
    contact: Header = _setting(
        None, "E-mail address or URL for site owners; required to crawl anything but loopback addresses."
    )
    workers: Count = _setting(1, "Worker processes of one crawl.")
    secret_key: Keys = _setting(
        (),
        "Encrypts passwords of proxies; by default secret.key in the data folder. To replace it: the new key, then the "
        "old one.",
        secret=True,
    )
    database: Database = Database()
    redis: Redis = Redis()
    dispatch: Dispatch = Dispatch()
    log: Log = Log()
    politeness: Politeness = Politeness()
    fetch: Fetch = Fetch()
    crawl: Crawl = Crawl()
    failures: Failures = Failures()
    cooldown: Cooldown = Cooldown()
    worker: Worker = Worker()
    browser: Browser = Browser()
    images: Images = Images()
    refresh: Refresh = Refresh()
    storage: Storage = Storage()
    retention: Retention = Retention()
    archive: Archive = Archive()
    backup: Backup = Backup()
    search: Search = Search()
    alerts: Alerts = Alerts()
    model: Model = Model()
    plugins: Plugins = Plugins()
    api: Api = Api()

    @classmethod
    def of(cls, **values: Any) -> Self:
        """Returns settings with these values, named as in the environment: `fetch_timeout` is `fetch.timeout`."""
        return cls.model_validate(nest({PATHS[name]: value for name, value in values.items()}))

    def replace(self, **values: Any) -> Self:
        """Returns a copy with other values, named in the same way. They are not validated."""
        update: dict[str, Any] = {}
        for name, value in nest({PATHS[name]: value for name, value in values.items()}).items():
            update[name] = getattr(self, name).model_copy(update=value) if name in SECTIONS else value
        return self.model_copy(update=update)

    def get(self, path: str) -> Any:
        """Returns the value of a setting by its name, such as `fetch.timeout`."""
        return attrgetter(path)(self)

    def list_changed(self) -> list[str]:
        """Returns the names of the settings that were given a value."""
        own, sections = self.model_fields_set.difference(SECTIONS), {name: getattr(self, name) for name in SECTIONS}
        inner = {f"{name}.{key}" for name, section in sections.items() for key in section.model_fields_set}
        return [path for path in FIELDS if path in own | inner]

    @property
    def api_url(self) -> str:
        """Returns the address of the API and the dashboard for links."""
        host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(self.api.host, self.api.host)  # noqa: S104 (not bound here)
        host = f"[{host}]" if ":" in host and not host.startswith("[") else host
        return self.api.public_url or f"http://{host}:{self.api.port}"

    @property
    def agent_header(self) -> str:
        """Returns the User-Agent header: who we are and how to contact us."""
        return self.fetch.user_agent or f"Forager/{__version__}" + (f" (+{self.contact})" if self.contact else "")


SECTIONS: Mapping[str, type[Section]] = {
    name: field.annotation
    for name, field in Settings.model_fields.items()
    if isinstance(field.annotation, type) and issubclass(field.annotation, Section)
}
FIELDS: Mapping[str, FieldInfo] = {
    **{name: field for name, field in Settings.model_fields.items() if name not in SECTIONS},
    **{f"{name}.{key}": field for name, section in SECTIONS.items() for key, field in section.model_fields.items()},
}
"""Every setting by its name, in the order they are listed."""
PATHS: Mapping[str, str] = {path.replace(".", "_"): path for path in FIELDS}
"""Its name in the environment, in lower case and without the prefix."""
SECRETS = frozenset(path for path, field in FIELDS.items() if _extra(field).get("secret"))
"""Never shown: they are, or contain, passwords."""


def nest(values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns values by name as one mapping per section, as a file has them."""
    nested: dict[str, Any] = {}
    for path, value in values.items():
        section, _, name = path.rpartition(".")
        (nested.setdefault(section, {}) if section else nested)[name] = value
    return nested


def is_advanced(path: str) -> bool:
    return bool(_extra(FIELDS[path]).get("advanced"))


def write_value(path: str, value: Any) -> Any:
    """Returns a value as it is written in a file: durations and sizes with their units."""
    return as_written(value, FIELDS[path].metadata)
