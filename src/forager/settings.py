"""Every setting: one name, the same in `forager.toml`, as `FORAGER_<NAME>` in the environment, and as a flag.

The environment wins over files, flags win over both. Unknown keys and bad values are errors with a suggestion,
never ignored. Modules do not read settings: the floor above hands them the values they need.
"""

import difflib
import ipaddress
import os
import tomllib
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from forager import __version__
from forager.errors import ConfigurationError
from forager.masking import mask_urls

ENV_PREFIX = "FORAGER_"
FILE_NAME = "forager.toml"
NOT_SETTINGS = frozenset({"REQUIRE_SERVICES", "TEST_SEARCH_URL", "CONFIG", "ALLOW_ROOT", "LEFT_ROOT", "FILE_IGNORED"})
"""`FORAGER_*` names that belong to the test suite, and to the start of a command."""


Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Span = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)]
TimeOfDay = Annotated[str, Field(pattern=r"^(never|((Mon|Tue|Wed|Thu|Fri|Sat|Sun) )?([01][0-9]|2[0-3]):[0-5][0-9])$")]
DAY_S = 86400.0
SECRETS = frozenset({"database_url", "redis_url", "broker_url", "search_url", "secret_key"})
"""Never repeated to anybody: they are, or hold, passwords."""
SHORTEST_KEY = 32
FEWEST_CHARACTERS_OF_KEY = 8
WORDS_OF_KNOWN_KEYS = (
    *(
        "changeme",
        "change-me",
        "change_me",
        "password",
        "passw0rd",
        "secretkey",
        "secret-key",
        "secret_key",
        "mysecret",
    ),
    *(
        "supersecret",
        "topsecret",
        "notsecret",
        "your-",
        "your_",
        "yoursecret",
        "example",
        "replace",
        "insecure",
        "default",
    ),
    *("qwerty", "letmein", "iloveyou", "deadbeef", "lorem"),
)
LABEL = r"^[a-z0-9][a-z0-9._-]{0,62}$"


def default_home() -> Path:
    """The per-user data folder: XDG on Linux, Application Support on macOS, /var/lib for root."""
    if data := os.environ.get("XDG_DATA_HOME"):
        return Path(data) / "forager"
    if os.uname().sysname == "Darwin":
        return Path.home() / "Library/Application Support/forager"
    if os.geteuid() == 0:
        return Path("/var/lib/forager")
    return Path.home() / ".local/share/forager"


class Settings(BaseModel):
    """The values, with the defaults a laptop wants."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    home: Path = Field(default_factory=default_home, description="Folder for the embedded database and stored files.")
    database_url: str | None = Field(
        None, description="An external PostgreSQL 15 or newer instead of the embedded one."
    )
    prepared_statements: bool = Field(
        True,
        description="Whether connections keep prepared statements; false for workers behind a pooler by transaction.",
    )
    redis_url: str | None = Field(
        None,
        repr=False,
        description="A Redis that processes share what they know through; without it PostgreSQL does all of it.",
    )
    queue: str = Field(
        "inline",
        pattern="^(inline|celery)$",
        description="How workers hear of domains that are due: inline (they ask the database), or celery (RabbitMQ).",
    )
    broker_url: str = Field(
        "amqp://guest:guest@127.0.0.1:5672//",
        repr=False,
        description="The RabbitMQ for `queue = celery`; its virtual host stands behind the port.",
    )
    queue_prefix: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9_.-]{0,64}$",
        description="Stands before the names of the queues, so that several Foragers can share a broker.",
    )
    secret_key: tuple[str, ...] = Field(
        (),
        repr=False,
        description="Encrypts passwords of proxies; by default secret.key in the data folder; while it is replaced, the"
        " new key, then the old one.",
    )
    log_level: str = Field(
        "warning", pattern="^(debug|info|warning|error)$", description="How much to log on standard error."
    )
    log_format: str = Field("text", pattern="^(text|json)$", description="Lines for people, or JSON for machines.")

    contact: str | None = Field(
        None, description="E-mail or URL site owners can write to; needed to crawl anything but loopback."
    )
    user_agent: str | None = Field(
        None, description="The whole User-Agent header; by default made from version and contact."
    )
    robots_agent: str = Field(
        "Forager", min_length=1, description="The product name robots.txt rules are matched with."
    )
    allow_networks: tuple[str, ...] = Field(
        (), description="Networks the address guard lets through although they are not public."
    )
    allow_ports: tuple[int, ...] = Field(
        (80, 443, 8000, 8080, 8443), description="Ports that may be dialled; allowed networks may use any."
    )
    unpaced_hosts: tuple[str, ...] = Field(
        (), description="Hosts or networks crawled without pace: benchmarks and own servers."
    )

    workers: Count = Field(1, description="Worker processes of one crawl.")
    worker_labels: tuple[Annotated[str, Field(pattern=LABEL)], ...] = Field(
        (), description="What workers of this machine offer, such as eu; domains that want one of these are theirs too."
    )
    delay_s: Seconds = Field(
        1.0, description="Seconds between two requests to one domain, at least 0.05; robots.txt may ask for more."
    )
    max_concurrent_requests: Count = Field(5, description="Requests open at once to one domain.")
    unpaced_concurrency: Count = Field(16, description="Requests open at once to one unpaced domain.")
    adaptive_pace: bool = Field(
        True, description="Whether a server that slows down is given more time between requests."
    )
    max_requests_per_ip: Annotated[int, Field(ge=0)] = Field(
        16, description="Requests one worker has open at once to one IP address, whatever its domains; 0: no limit."
    )
    delay_per_ip_s: Seconds = Field(
        0.0, description="Seconds between two requests of one worker to one IP address, whatever its domains."
    )
    max_requests_in_flight: Count = Field(256, description="Requests open at once in one worker.")
    max_domains_per_worker: Annotated[int, Field(ge=0)] = Field(
        0,
        description="Domains one worker leases at once; 0: as many as fit into a sixteenth of the machine's memory, "
        "2,000 to 20,000.",
    )

    max_depth: Annotated[int, Field(ge=0, le=1000)] = Field(
        10, description="Links from a seed; deeper pages are known but not visited."
    )
    max_links_per_page: Count = Field(5000, description="Links taken from one page.")
    max_near_duplicates: Count = Field(
        50, description="Pages of one URL template that bring nothing new before its links are left out."
    )
    max_calendar_pages: Count = Field(200, description="Pages taken of one calendar.")
    max_pages_per_template: Annotated[int, Field(ge=0)] = Field(
        0,
        description="Pages taken of one URL template of a domain, such as /item/{n}, whatever they bring; 0: no limit.",
    )
    max_subdomains: Count = Field(
        1000, description="Sub-domains of one registrable domain that are found by links; seeds do not count."
    )
    max_redirects: Annotated[int, Field(ge=0, le=20)] = Field(
        5, description="Redirects in a row before a page counts as failed."
    )
    max_retries: Annotated[int, Field(ge=0, le=20)] = Field(3, description="New tasks after a failed visit.")
    dependents: str = Field(
        "cancel",
        pattern="^(cancel|run)$",
        description="What becomes of a task that waits for one that failed or was cancelled: cancel, or run.",
    )
    max_page_bytes: Count = Field(10 * 1024 * 1024, description="Largest body, compressed or not.")
    images: str = Field(
        "found",
        pattern="^(none|found|download)$",
        description="Images of pages: none, found (where each is shown), or download (stored too).",
    )
    max_image_bytes: Count = Field(20 * 1024 * 1024, description="Largest file of an image.")
    max_image_pixels: Count = Field(40_000_000, description="Most pixels of an image that is decoded.")
    rendering: str = Field(
        "never",
        pattern="^(never|auto|always)$",
        description="Whether a browser runs the scripts of pages: never, auto (where the plain page is empty), always.",
    )
    chromium: Path | None = Field(
        None, description="The browser's program; by default the Chromium that is installed, its headless shell first."
    )
    browser_sandbox: bool = Field(
        True, description="Whether Chromium has to run in its own sandbox; as root it cannot, and runs without."
    )
    browser_pages: Annotated[int, Field(ge=1, le=64)] = Field(
        2, description="Pages one worker's browser draws at once."
    )
    browser_memory_bytes: Count = Field(
        1536 * 1024 * 1024, description="A browser that uses more memory is replaced by a new one."
    )
    render_timeout_s: Span = Field(20.0, description="Until a page in the browser is taken as it is.")
    render_requests: Annotated[int, Field(ge=0)] = Field(60, description="Requests the scripts of one page may make.")
    render_bytes: Count = Field(20 * 1024 * 1024, description="What these requests may bring, as sent.")
    request_timeout_s: Span = Field(30.0, description="Whole request, from dialling to the last byte.")
    connect_timeout_s: Span = Field(10.0, description="Dialling, TLS included.")
    first_byte_timeout_s: Span = Field(20.0, description="From the request's leaving to the first byte of its answer.")
    stall_timeout_s: Span = Field(10.0, description="The span over which a begun answer has to keep the slowest rate.")
    slowest_bytes_per_s: Seconds = Field(64.0, description="An answer that comes slower is given up; 0: it may drip.")
    cookies: bool = Field(True, description="Whether a site's cookies are kept and sent back to it during a lease.")
    robots_ttl_s: Seconds = Field(3600.0, description="How long a robots.txt is trusted.")
    longest_wait_s: Seconds = Field(
        120.0, description="A crawl ends instead of waiting longer than this for its last domains."
    )

    budget: bool = Field(True, description="Whether leases end so that others get a turn, by the two settings below.")
    lease_pages: Count = Field(1000, description="Pages of one domain before the next best one gets its turn.")
    lease_budget_s: Span = Field(
        60.0, description="Seconds of one domain after which it makes room, where a worker has none for one that waits."
    )
    scheduling: str = Field(
        "smart", pattern="^(smart|seed_order)$", description="Domains by their score, or in the order they were met."
    )
    refresh: bool = Field(True, description="Whether exhausted domains are visited again after `refresh_every_s`.")
    refresh_every_s: Span = Field(14 * DAY_S, description="How long an exhausted domain rests until its refresh.")
    max_domain_errors: Count = Field(10, description="Refusals of one kind in a row before a domain is blocked.")
    max_unreachable: Count = Field(5, description="Failed connections, or 429s, in a row until a domain rests.")
    breaker_failures: Count = Field(
        5, description="Failed requests in a row until a domain is left in peace for a moment."
    )
    breaker_reset_s: Seconds = Field(60.0, description="That moment; afterwards single requests are tried.")
    max_blocked_returns: Annotated[int, Field(ge=0, le=1000)] = Field(
        3, description="Returns from a block before the next block stays until an operator lifts it."
    )
    cooldown_login_s: Span = Field(30 * DAY_S, description="Rest of a domain that wants a login.")
    cooldown_forbidden_s: Span = Field(14 * DAY_S, description="Rest of a domain that keeps answering 403.")
    cooldown_rate_limited_s: Span = Field(7 * DAY_S, description="Rest of a domain that keeps answering 429.")
    cooldown_server_error_s: Span = Field(7 * DAY_S, description="Rest of a domain that keeps answering 5xx.")
    cooldown_unreachable_s: Span = Field(
        7 * DAY_S, description="Longest rest of a domain nobody answers for: 5 min at first, longer each time."
    )
    cooldown_robots_s: Span = Field(90 * DAY_S, description="Rest of a domain whose robots.txt forbids everything.")

    lease_s: Annotated[float, Field(ge=2, allow_inf_nan=False)] = Field(
        1800.0, description="A domain lease; renewed with every record."
    )
    heartbeat_s: Span = Field(30.0, description="How often a worker says it is alive.")
    dead_after_s: Span = Field(120.0, description="A worker silent for so long has lost its leases.")
    batch_pages: Annotated[int, Field(ge=1, le=1000)] = Field(
        200, description="Pages that are written together; up to twice as many where the writer is behind."
    )
    readers: Annotated[int, Field(ge=0, le=64)] = Field(
        1,
        description="Processes that read pages for a worker; "
        "0: the worker reads them itself, without limits of time and memory.",
    )
    batch_ms: Count = Field(500, description="Milliseconds between two writes, at most.")
    spool_pages: Count = Field(
        2000, description="Visits a worker keeps while the database is away; then it makes no more requests."
    )
    spool_bytes: Count = Field(64 * 1024 * 1024, description="About how much memory these visits may take.")
    known_urls: Count = Field(
        7_000_000, description="URLs a worker remembers to spare look-ups, at most; 24 bytes each."
    )
    keyword_words: Annotated[int, Field(ge=0, le=20_000)] = Field(
        200, description="Words of the main text that become searchable."
    )

    search_backend: str = Field(
        "postgres",
        pattern="^(postgres|opensearch)$",
        description="Who finds pages and products: postgres, or opensearch (an OpenSearch or Elasticsearch server).",
    )
    search_url: str | None = Field(
        None,
        repr=False,
        description="The search server for `search_backend = opensearch`, such as https://user:password@host:9200.",
    )
    search_index_prefix: str = Field(
        "forager-",
        pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$",
        description="Stands before the names of indexes, so that several Foragers can share a search server.",
    )
    search_ca_file: Path | None = Field(
        None, description="A certificate authority for the search server, where it is not a public one."
    )

    content_policy: str = Field(
        "signals",
        pattern="^(signals|snapshot|archive)$",
        description="What is kept of a page's body where its domain does not say: nothing, the newest, everything.",
    )
    bodies: str | None = Field(
        None,
        description="A bucket for bodies and images, such as s3://bucket/folder; by default a local folder.",
    )
    s3_endpoint: str | None = Field(
        None, description="The URL of the S3 server; by default AWS_ENDPOINT_URL, or Amazon's own of the region."
    )
    s3_region: str | None = Field(None, description="The bucket's region; by default AWS_REGION, or us-east-1.")
    body_retention_s: Span = Field(30 * DAY_S, description="How long a snapshot is kept that no visit brought again.")
    image_retention_s: float = Field(
        0,
        ge=0,
        allow_inf_nan=False,
        description="How long the file of an image is kept after it was last seen, where its domain does not say;"
        " 0: for good.",
    )
    warc_bytes: Count = Field(1024**3, description="An archive file of this size is closed and the next one begun.")
    warc_age_s: Span = Field(DAY_S, description="An archive file so old is closed and the next one begun.")
    visit_retention_s: Span = Field(
        7 * DAY_S, description="How long visits that went well stay in the database until they leave for cold files."
    )
    failure_retention_s: Span = Field(30 * DAY_S, description="The same, of visits that failed.")
    page_retention_s: Span = Field(
        90 * DAY_S, description="The same, of the signals of pages that are there no longer, since they were last read."
    )
    robots_retention_s: Span = Field(
        90 * DAY_S, description="How long requests for robots.txt stay on record; they prove the pace."
    )
    moves_retention_s: Span = Field(
        365 * DAY_S, description="How long moves of domains stay on record; the last 20 of each always do."
    )
    cold_folder: Path | None = Field(None, description="Folder of cold files; by default `cold` in the data folder.")
    cold_bucket: str | None = Field(
        None, description="A bucket that cold files are copied to, such as s3://bucket/folder; by default none."
    )
    backup_folder: Path | None = Field(None, description="Folder of backups; by default `backups` in the data folder.")
    backup_bucket: str | None = Field(
        None, description="A bucket that the daily backup is copied to, such as s3://bucket/folder; by default none."
    )
    backup_retention_s: Span = Field(7 * DAY_S, description="How long backups in that folder and bucket are kept.")
    backup_at: TimeOfDay = Field("02:00", description="When the daily backup is made (UTC), or never.")
    cleanup_at: TimeOfDay = Field("03:00", description="When old visits leave for cold files (UTC), or never.")
    vacuum_at: TimeOfDay = Field("Sun 04:00", description="When all tables are vacuumed (UTC), or never.")

    alert_error_rate: Share = Field(
        0.2, description="Alert when a larger share of the visits is answered with 4xx or 5xx, or not at all."
    )
    alert_success_rate: Share = Field(0.5, description="Alert when a smaller share of the visits brings a page.")
    alert_frontier_growth: Span = Field(0.1, description="Alert when the frontier grows by a larger share a minute.")
    alert_fewest_proxies: Annotated[int, Field(ge=0)] = Field(
        3, description="Alert when fewer proxies of a domain's pool work."
    )
    alert_proxy_failures: Share = Field(
        0.1, description="Alert when a larger share of a domain's requests fails at its proxies."
    )
    alert_parse_drop: Share = Field(
        0.2, description="Alert when the share of a domain's products that can be read drops by more."
    )
    alert_disk_free: Share = Field(0.05, description="Alert when a smaller share of the disk is free.")
    alert_disk_free_bytes: Annotated[int, Field(ge=0)] = Field(
        1024**3, description="Alert when fewer bytes of the disk are free."
    )
    alert_stall_s: Span = Field(
        600.0, description="Alert when no visit ended for so many seconds although work is due and workers are alive."
    )

    api_host: str = Field("127.0.0.1", min_length=1, description="The address the API listens on.")
    api_port: Annotated[int, Field(ge=0, le=65_535)] = Field(8600, description="Its port; 0: any that is free.")
    api_processes: Annotated[int, Field(ge=1, le=64)] = Field(
        1, description="Processes that serve the API on that port; one takes a processor at most."
    )
    api_connections: Annotated[int, Field(ge=2, le=200)] = Field(
        10, description="Connections of one API process to the database."
    )
    api_statement_s: Span = Field(10.0, description="A statement of the API that takes longer is given up.")
    api_body_bytes: Count = Field(1024 * 1024, description="Largest body of a request to the API.")
    api_seed_bytes: Count = Field(16 * 1024 * 1024, description="Largest list of seeds in one request.")
    api_clients: Annotated[int, Field(ge=10, le=100_000)] = Field(
        2000, description="Connections of clients to one API process, as far as its file handles reach."
    )
    api_clients_per_address: Annotated[int, Field(ge=5, le=100_000)] = Field(
        500, description="Of these, connections of one address; those of trusted proxies are not counted."
    )
    api_listeners: Annotated[int, Field(ge=1, le=10_000)] = Field(
        200, description="Who may listen to live numbers of one API process at once."
    )

    public_url: str | None = Field(
        None, description="How browsers reach the API, such as https://forager.example; by default its host and port."
    )
    trusted_proxies: tuple[str, ...] = Field(
        (), description="Networks of reverse proxies whose X-Forwarded-For and X-Forwarded-Proto are believed."
    )
    session_idle_s: Annotated[float, Field(ge=60, allow_inf_nan=False)] = Field(
        2 * 3600.0, description="A session of the API that was not used for so long is over; each lasts a day at most."
    )
    rate_anonymous: Count = Field(10, description="Requests a minute to the API from one address without a login.")
    rate_user: Count = Field(100, description="Requests a minute to the API of one user.")
    rate_admin: Count = Field(500, description="Requests a minute to the API of one admin.")
    rate_seeds: Count = Field(10, description="Requests a minute of one admin that bring seeds.")

    @field_validator(
        *("allow_networks", "unpaced_hosts", "worker_labels", "allow_ports", "secret_key", "trusted_proxies"),
        mode="before",
    )
    @classmethod
    def _split_list(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value

    @field_validator("contact", "user_agent")
    @classmethod
    def _check_header(cls, value: str | None) -> str | None:
        if value and not (value.isascii() and value.isprintable()):
            raise ValueError("it is sent as a header, so it may hold printable ASCII characters only")
        return value or None

    @field_validator("allow_networks", "trusted_proxies")
    @classmethod
    def _check_networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for network in value:
            try:
                ipaddress.ip_network(network, strict=False)
            except ValueError:
                raise ValueError(f"{network!r} is no network; write it like 127.0.0.0/8 or 10.1.2.3") from None
        return value

    @field_validator("secret_key")
    @classmethod
    def _check_keys(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if any(len(key) < SHORTEST_KEY for key in value):
            raise ValueError(f"a key has at least {SHORTEST_KEY} characters, such as `openssl rand -hex 32` prints")
        if value and _is_known_key(value[0]):  # the others only open what was sealed before, until it is sealed anew
            raise ValueError("a key is random, such as `openssl rand -hex 32` prints; this one can be guessed")
        return value

    @field_validator("database_url")
    @classmethod
    def _check_database_url(cls, value: str | None) -> str | None:
        if value and not value.startswith(("postgresql://", "postgres://")):
            raise ValueError("must start with postgresql://")
        return value or None

    @field_validator("bodies", "cold_bucket", "backup_bucket")
    @classmethod
    def _check_bucket(cls, value: str | None) -> str | None:
        if value and not value.startswith("s3://"):
            raise ValueError("must start with s3://, such as s3://bucket/folder")
        return value.rstrip("/") if value else None

    @field_validator("redis_url")
    @classmethod
    def _check_redis_url(cls, value: str | None) -> str | None:
        if value and not value.startswith(("redis://", "rediss://", "unix://")):
            raise ValueError("must start with redis://, rediss:// or unix://")
        return value or None

    @field_validator("broker_url")
    @classmethod
    def _check_broker_url(cls, value: str) -> str:
        if not value.startswith(("amqp://", "amqps://")):
            raise ValueError("must start with amqp:// or amqps://")
        return value

    @field_validator("search_url")
    @classmethod
    def _check_search_url(cls, value: str | None) -> str | None:
        if value and not value.startswith(("https://", "http://")):
            raise ValueError("must start with https:// or http://")
        return value or None

    @field_validator("public_url")
    @classmethod
    def _check_public_url(cls, value: str | None) -> str | None:
        if value and not value.startswith(("https://", "http://")):
            raise ValueError("must start with https:// or http://")
        return value.rstrip("/") if value else None

    @property
    def api_url(self) -> str:
        """Where links to the API and the dashboard lead."""
        host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(self.api_host, self.api_host)  # noqa: S104 (not bound here)
        host = f"[{host}]" if ":" in host and not host.startswith("[") else host
        return self.public_url or f"http://{host}:{self.api_port}"

    @property
    def agent_header(self) -> str:
        """Who we are and whom to write to."""
        return self.user_agent or f"Forager/{__version__}" + (f" (+{self.contact})" if self.contact else "")


def _is_known_key(key: str) -> bool:
    """Examples of documentation, a text again and again, and rows of characters."""
    lower = key.lower()
    steps = [ord(after) - ord(before) for before, after in pairwise(lower)]
    return (
        len(set(lower)) < FEWEST_CHARACTERS_OF_KEY
        or lower in (lower * 2)[1:-1]
        or any(word in lower for word in WORDS_OF_KNOWN_KEYS)
        or max(steps.count(1), steps.count(-1), steps.count(0)) > len(steps) / 2
    )


def load(flags: Mapping[str, Any] | None = None, environ: Mapping[str, str] = os.environ) -> Settings:
    """Settings of this process: file, then environment, then flags that were given (None means not given)."""
    given = {name: value for name, value in (flags or {}).items() if value is not None}
    from_env = _from_environment(environ)
    home = find_home(given, environ)
    from_file = _from_files(home, environ)
    values = from_file | from_env | given
    if "home" in values:
        values["home"] = Path(values["home"]).expanduser().absolute()
    try:
        return Settings(**values)
    except ValidationError as error:
        raise ConfigurationError(_format_error(error, given, from_env)) from None


def to_environment(settings: Settings) -> dict[str, str]:
    """The settings that are not defaults, as the environment of a child process that is to see the same."""
    values = {}
    for name in settings.model_fields_set:
        value = getattr(settings, name)
        text = ",".join(map(str, value)) if isinstance(value, tuple) else "" if value is None else str(value)
        values[ENV_PREFIX + name.upper()] = text
    return values


def source_of(name: str, environ: Mapping[str, str] = os.environ, home: Path | None = None) -> str:
    """Where a setting's value comes from: `default`, a file's path, or an environment variable's name."""
    variable = ENV_PREFIX + name.upper()
    if environ.get(variable):
        return variable
    for path in reversed(_files(home or default_home(), environ)):
        if name in _read_file(path):
            return str(path)
    return "default"


def find_home(flags: Mapping[str, Any] | None = None, environ: Mapping[str, str] = os.environ) -> Path:
    """The data folder, before any file in it is read."""
    named = (flags or {}).get("home") or environ.get(ENV_PREFIX + "HOME") or _home_in(_explicit_file(environ))
    return Path(named or default_home()).expanduser().absolute()


def ignored_file(home: Path, environ: Mapping[str, str] = os.environ) -> Path | None:
    """A settings file in the working folder, where it is not one of those that are read."""
    path = Path.cwd() / FILE_NAME
    return path if path.is_file() and not any(used.samefile(path) for used in _files(home, environ)) else None


def _files(home: Path, environ: Mapping[str, str]) -> list[Path]:
    """What settings are read from: the data folder's own file, then what `--config` or FORAGER_CONFIG names. Never that
    of the working folder: it can be anybody's, and a setting can name a program to run."""
    return [path for path in (home / FILE_NAME, _explicit_file(environ)) if path is not None and path.is_file()]


def _explicit_file(environ: Mapping[str, str]) -> Path | None:
    named = environ.get(ENV_PREFIX + "CONFIG")
    if not named:
        return None
    path = Path(named).expanduser().absolute()
    if not path.is_file():
        raise ConfigurationError(f"There is no settings file {path} (from --config or FORAGER_CONFIG).")
    return path


def _home_in(path: Path | None) -> str | None:
    home = None if path is None else _read_file(path).get("home")
    return home if isinstance(home, str) else None


def _reject_foreign(path: Path) -> None:
    """What another user can write would be an order of that user."""
    found = path.stat()
    if found.st_uid not in {os.geteuid(), 0} or found.st_mode & 0o002:
        raise ConfigurationError(
            f"{path} belongs to another user, or everybody may write it, and a setting can name a program to run: "
            "make it your own (chown, chmod o-w), or name another file with --config."
        )


def _from_files(home: Path, environ: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for path in _files(home, environ):
        if path == home / FILE_NAME:
            _reject_foreign(path)
        content = _read_file(path)
        for name in content:
            _reject_unknown(name, f"in {path}")
        values |= content
    return values


def _read_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise ConfigurationError(f"{path} cannot be read as TOML: {error}. Mend or remove it.") from None


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for variable, value in environ.items():
        if not variable.startswith(ENV_PREFIX) or variable.removeprefix(ENV_PREFIX) in NOT_SETTINGS:
            continue
        name = variable.removeprefix(ENV_PREFIX).lower()
        _reject_unknown(name, f"in the environment variable {variable}")
        if value:
            values[name] = value
    return values


def _reject_unknown(name: str, where: str) -> None:
    if name in Settings.model_fields:
        return
    close = difflib.get_close_matches(name, Settings.model_fields, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else " `forager settings` lists them all."
    raise ConfigurationError(f"There is no setting {name!r} ({where}).{hint}")


def _format_error(error: ValidationError, given: Mapping[str, Any], from_env: Mapping[str, Any]) -> str:
    first = error.errors()[0]
    name = str(first["loc"][0]) if first["loc"] else "?"
    where = "a flag" if name in given else ENV_PREFIX + name.upper() if name in from_env else FILE_NAME
    value = "" if name in SECRETS else " " + mask_urls(repr(first["input"]))
    reason = first["msg"].removeprefix("Value error, ")
    return f"The setting {name!r} (from {where}) has a bad value{value}: {reason}."
