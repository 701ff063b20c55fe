"""Flags that several commands share, so that one name means one thing. Imported by `--help`: keep it light."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

Home = Annotated[
    Path | None,
    typer.Option("--home", help="Data folder; also FORAGER_HOME.", metavar="FOLDER", rich_help_panel="Where"),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, help="Maximum number of rows.", metavar="N")]
DomainName = Annotated[str | None, typer.Option("--domain", help="Only this domain.", metavar="NAME")]
StatusCode = Annotated[
    str | None, typer.Option("--code", help="Only with this status code: 404, or 5xx.", metavar="CODE")
]
UrlPart = Annotated[str | None, typer.Option("--contains", help="Only with this in the URL.", metavar="TEXT")]
Source = Annotated[str | None, typer.Option("--source", help="Only of domains found so: link, seed …", metavar="NAME")]
Parser = Annotated[str | None, typer.Option("--parser", help="Only of domains set to this parser.", metavar="NAME")]
Output = Annotated[
    str | None,
    typer.Option("--output", "-o", help="Write to this file instead of standard output (-).", metavar="FILE"),
]

Contact = Annotated[str | None, typer.Option("--contact", metavar="WHO", help="E-mail or URL for site owners.")]
AllowNetwork = Annotated[
    list[str] | None,
    typer.Option("--allow-network", metavar="NET", help="Allow this network, such as 127.0.0.0/8; repeatable."),
]


class Keep(StrEnum):
    """The content policies; spelled out here because `--help` must not load the archive."""

    SIGNALS = "signals"
    TEXT = "text"
    SNAPSHOT = "snapshot"
    ARCHIVE = "archive"


class Images(StrEnum):
    """What is done with the images of pages."""

    NONE = "none"
    FOUND = "found"
    DOWNLOAD = "download"


class Rendering(StrEnum):
    """When a browser renders pages."""

    NEVER = "never"
    AUTO = "auto"
    ALWAYS = "always"


class DomainStatus(StrEnum):
    PENDING = "pending"
    ACTIVE = "active"
    EXHAUSTED = "exhausted"
    BLOCKED = "blocked"
    UNREACHABLE = "unreachable"


class PageStatus(StrEnum):
    DISCOVERED = "discovered"
    QUEUED = "queued"
    FETCHED = "fetched"
    FAILED = "failed"
    BLOCKED = "blocked"
    GONE = "gone"


class TaskKind(StrEnum):
    """The purpose of a visit."""

    PAGE = "page"
    IMAGE = "image"


class TaskStatus(StrEnum):
    PENDING = "pending"
    CRAWLING = "crawling"
    COMPLETED = "completed"
    FAILED = "failed"
    PAUSED = "paused"
    CANCELLED = "cancelled"
