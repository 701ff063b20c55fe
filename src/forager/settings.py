"""Every setting: one name, the same in `forager.toml`, as `FORAGER_<NAME>` in the environment, and as a flag.

The environment wins over the file, flags win over both. Unknown keys and bad values are errors with a suggestion,
never ignored. Modules do not read settings: the floor above hands them the values they need.
"""

import difflib
import ipaddress
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from forager import __version__
from forager.errors import ConfigurationError

ENV_PREFIX = "FORAGER_"
FILE_NAME = "forager.toml"
NOT_SETTINGS = frozenset({"REQUIRE_SERVICES"})
"""`FORAGER_*` names that belong to the test suite."""


Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Span = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]


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
    log_level: str = Field(
        "warning", pattern="^(debug|info|warning|error)$", description="How much to log on standard error."
    )

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
    delay_s: Seconds = Field(
        1.0, description="Seconds between two requests to one domain; robots.txt may ask for more."
    )
    max_concurrent_requests: Count = Field(5, description="Requests open at once to one domain.")
    unpaced_concurrency: Count = Field(16, description="Requests open at once to one unpaced domain.")
    max_requests_in_flight: Count = Field(256, description="Requests open at once in one worker.")
    max_domains_per_worker: Count = Field(2000, description="Domains one worker leases at once.")

    max_depth: Annotated[int, Field(ge=0, le=1000)] = Field(
        10, description="Links from a seed; deeper pages are known but not visited."
    )
    max_links_per_page: Count = Field(1000, description="Links taken from one page.")
    max_redirects: Annotated[int, Field(ge=0, le=20)] = Field(
        5, description="Redirects in a row before a page counts as failed."
    )
    max_retries: Annotated[int, Field(ge=0, le=20)] = Field(3, description="New tasks after a failed visit.")
    max_page_bytes: Count = Field(10 * 1024 * 1024, description="Largest body, compressed or not.")
    request_timeout_s: Span = Field(30.0, description="Whole request, from dialling to the last byte.")
    connect_timeout_s: Span = Field(10.0, description="Dialling, TLS included.")
    robots_ttl_s: Seconds = Field(3600.0, description="How long a robots.txt is trusted.")
    longest_wait_s: Seconds = Field(
        120.0, description="A crawl ends instead of waiting longer than this for its last domains."
    )

    lease_s: Annotated[float, Field(ge=2, allow_inf_nan=False)] = Field(
        1800.0, description="A domain lease; renewed with every record."
    )
    heartbeat_s: Span = Field(30.0, description="How often a worker says it is alive.")
    dead_after_s: Span = Field(120.0, description="A worker silent for so long has lost its leases.")
    batch_pages: Annotated[int, Field(ge=1, le=1000)] = Field(
        200, description="Pages written in one transaction, at most."
    )
    batch_ms: Count = Field(250, description="Milliseconds between two writes, at most.")
    known_urls: Count = Field(400_000, description="URLs a worker remembers to spare look-ups; twice as many at times.")
    keyword_words: Annotated[int, Field(ge=0, le=20_000)] = Field(
        200, description="Words of the main text that become searchable."
    )

    @field_validator("allow_networks", "unpaced_hosts", "allow_ports", mode="before")
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

    @field_validator("allow_networks")
    @classmethod
    def _check_networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for network in value:
            try:
                ipaddress.ip_network(network, strict=False)
            except ValueError:
                raise ValueError(f"{network!r} is no network; write it like 127.0.0.0/8 or 10.1.2.3") from None
        return value

    @field_validator("database_url")
    @classmethod
    def _check_database_url(cls, value: str | None) -> str | None:
        if value and not value.startswith(("postgresql://", "postgres://")):
            raise ValueError("must start with postgresql://")
        return value or None

    @property
    def agent_header(self) -> str:
        """C-23: who we are and whom to write to."""
        return self.user_agent or f"Forager/{__version__}" + (f" (+{self.contact})" if self.contact else "")


def load(flags: Mapping[str, Any] | None = None, environ: Mapping[str, str] = os.environ) -> Settings:
    """Settings of this process: file, then environment, then flags that were given (None means not given)."""
    given = {name: value for name, value in (flags or {}).items() if value is not None}
    from_env = _from_environment(environ)
    home = Path(given.get("home") or from_env.get("home") or default_home()).expanduser()
    from_file = _from_files(home)
    values = from_file | from_env | given
    if "home" in values:
        values["home"] = Path(values["home"]).expanduser().absolute()
    try:
        return Settings(**values)
    except ValidationError as error:
        raise ConfigurationError(_one_sentence(error, given, from_env)) from None


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
    for path in reversed(_files(home or default_home())):
        if name in _read_file(path):
            return str(path)
    return "default"


def _files(home: Path) -> list[Path]:
    """The working folder's file wins over the one in the data folder."""
    return [path for path in (home / FILE_NAME, Path.cwd() / FILE_NAME) if path.is_file()]


def _from_files(home: Path) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for path in _files(home):
        content = _read_file(path)
        for name in content:
            _refuse_unknown(name, f"in {path}")
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
        _refuse_unknown(name, f"in the environment variable {variable}")
        if value:
            values[name] = value
    return values


def _refuse_unknown(name: str, where: str) -> None:
    if name in Settings.model_fields:
        return
    close = difflib.get_close_matches(name, Settings.model_fields, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else " `forager settings` lists them all."
    raise ConfigurationError(f"There is no setting {name!r} ({where}).{hint}")


def _one_sentence(error: ValidationError, given: Mapping[str, Any], from_env: Mapping[str, Any]) -> str:
    first = error.errors()[0]
    name = str(first["loc"][0]) if first["loc"] else "?"
    where = "a flag" if name in given else ENV_PREFIX + name.upper() if name in from_env else FILE_NAME
    value = "" if name == "database_url" else f" {first['input']!r}"  # it may hold a password
    reason = first["msg"].removeprefix("Value error, ")
    return f"The setting {name!r} (from {where}) has a bad value{value}: {reason}."
