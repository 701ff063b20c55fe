"""`forager replay`: stored bodies read again, without a request; into the live tables, or beside them to compare."""

import contextlib
import signal
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output, table
from forager.cli.durations import parse_past_time
from forager.cli.flags import AsJson, DomainName, Home
from forager.cli.help import Command
from forager.cli.start import Noted, begin, note, require_bucket, whoami
from forager.cli.table import number, text_column
from forager.errors import UsageError

if TYPE_CHECKING:
    from forager.config.settings import Settings
    from forager.engine.stop import StopRequest
    from forager.replay.diff import ReplayProgress
    from forager.replay.runner import Replayed
    from forager.replay.service import ReplayOrder, Stored

INTERRUPTED = 11
WHICH, HOW = "Which pages", "How"
LEFT = {
    "other_page": "the extractor is not for it",
    "deleted": "the body was deleted when its time was over",
    "newer_visit": "a newer visit was read already",
    "no_run": "the run that visited it is not on record any more",
    "missing": "the body is not in the store; `forager check` explains",
    "damaged": "the stored body is damaged",
    "decode_error": "it cannot be parsed",
    "parser_crash": "it crashes the parser",
    "parser_limit": "it takes more time or memory than a page may",
}

Url = Annotated[str | None, typer.Option("--url", metavar="URL", help="One page.", rich_help_panel=WHICH)]
Task = Annotated[int | None, typer.Option("--task", metavar="ID", help="The page of a task.", rich_help_panel=WHICH)]
Number = Annotated[
    int | None,
    typer.Option("--id", metavar="ID", min=1, help="Resume this unfinished replay.", rich_help_panel=WHICH),
]
Since = Annotated[
    str | None,
    typer.Option("--since", metavar="WHEN", help="Fetched since: 2026-01-31, or 7d, 12h ago.", rich_help_panel=WHICH),
]
Until = Annotated[
    str | None, typer.Option("--until", metavar="WHEN", help="Fetched before; like --since.", rich_help_panel=WHICH)
]
At = Annotated[
    str | None,
    typer.Option("--at", metavar="WHEN", help="Each page as it was then; like --since.", rich_help_panel=WHICH),
]
AllVersions = Annotated[
    bool,
    typer.Option("--all-versions", help="Older versions too: they fill the history of prices.", rich_help_panel=WHICH),
]
Parser = Annotated[
    str | None,
    typer.Option(
        "--parser", metavar="NAME", help="Products with this parser; default: the domain's.", rich_help_panel=HOW
    ),
]
ExtractorName = Annotated[
    str | None,
    typer.Option("--extractor", metavar="NAME", help="Only the records of this extractor.", rich_help_panel=HOW),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only count the pages.", rich_help_panel=HOW)]
Shadow = Annotated[
    bool, typer.Option("--shadow", help="Only compare; the live tables do not change.", rich_help_panel=HOW)
]
Unnoted = Annotated[bool, typer.Option("--unnoted", hidden=True, help="The caller writes the entry in the audit log.")]
Refetch = Annotated[
    bool, typer.Option("--refetch", help="Queue the pages to be visited again instead.", rich_help_panel=HOW)
]


def register(app: typer.Typer) -> None:
    app.command("replay", cls=Command, rich_help_panel="Look after it")(replay)


def replay(
    *,
    domain: DomainName = None,
    url: Url = None,
    task: Task = None,
    id: Number = None,
    since: Since = None,
    until: Until = None,
    at: At = None,
    all_versions: AllVersions = False,
    parser: Parser = None,
    extractor: ExtractorName = None,
    dry_run: DryRun = False,
    shadow: Shadow = False,
    refetch: Refetch = False,
    as_json: AsJson = False,
    home: Home = None,
    unnoted: Unnoted = False,
) -> None:
    """Parse stored bodies again, without any request."""
    if refetch and (shadow or parser or extractor or task):
        raise UsageError(
            "--refetch visits pages again; --shadow, --parser, --extractor and --task are about stored bodies."
        )
    if task and (url or domain or since or until):
        raise UsageError("--task names its page already; leave out --url, --domain, --since and --until.")
    if id and (task or url or domain or since or until or parser or extractor or shadow or refetch):
        raise UsageError("--id names its order already; leave out everything that says which pages, and how.")
    if (at or all_versions) and (refetch or task or id):
        raise UsageError("--at and --all-versions choose versions; leave out --refetch, --task and --id.")
    if all_versions and shadow:
        raise UsageError("--shadow compares one version of a page with what is stored: name it with --at.")
    now = clock.now()
    span = [
        parse_past_time(text, now, option) if text is not None else None
        for option, text in (("--since", since), ("--until", until), ("--at", at))
    ]
    settings = begin(home=home)
    require_bucket(settings)
    import asyncio

    which = _Pages(domain, url, task, id)
    order = _Order(which, span=(span[0], span[1]), parser=parser, extractor=extractor, is_shadow=shadow)
    order.choose_versions(span[2], is_all=all_versions)
    order.is_noted = not unnoted
    if refetch:
        pages = asyncio.run(order.refetch(settings, dry=dry_run))
        _report_refetch(pages, dry=dry_run, as_json=as_json)
    elif dry_run:
        _report_dry_run(asyncio.run(order.look(settings)), as_json=as_json)
    else:
        done = asyncio.run(order.run(settings))
        _tell(done, is_shadow=shadow, as_json=as_json)
        if not done.is_finished:
            raise typer.Exit(INTERRUPTED)


class _Pages(NamedTuple):
    """Which ones."""

    domain: str | None
    url: str | None
    task: int | None
    id: int | None


class _Order:
    """What the command line said, carried out."""

    def __init__(
        self,
        pages: _Pages,
        *,
        span: tuple[datetime | None, datetime | None],
        parser: str | None,
        extractor: str | None,
        is_shadow: bool,
    ) -> None:
        self._given: dict[str, Any] = {
            "domain": pages.domain,
            "url": pages.url,
            "since": span[0],
            "until": span[1],
            "parser": parser,
            "extractor": extractor,
        }
        self._task, self._id = pages.task, pages.id
        self._is_shadow = is_shadow
        self.is_noted = True

    def choose_versions(self, at: datetime | None, *, is_all: bool) -> None:
        self._given |= {"at": at, "is_all_versions": is_all}

    async def run(self, settings: "Settings") -> "Replayed":
        from forager.engine.stop import StopRequest
        from forager.instance import open_forager
        from forager.replay.runner import replay

        stop = StopRequest()
        async with open_forager(settings, application="forager replay") as forager:
            order = await self._order(forager)
            with _progress() as show, _listening(stop):
                done = await replay(forager, order, by=whoami(), stop=stop, on_progress=show)
            if self.is_noted:
                await note(forager.database, self._noted(done))
            return done

    def _noted(self, done: "Replayed") -> Noted:
        told = {"read": done.tally.read, "changed": done.tally.changed, "is_shadow": self._is_shadow or None}
        if self._task is not None:
            return Noted("task.restart_parsing", "task", self._task, told)
        return Noted("page.replay", "page", None, self._given | told)

    async def look(self, settings: "Settings") -> "Stored":
        from forager.instance import open_forager
        from forager.replay.runner import look

        async with open_forager(settings, application="forager replay") as forager:
            return await look(forager, await self._order(forager))

    async def refetch(self, settings: "Settings", *, dry: bool) -> int:
        from forager.instance import open_forager
        from forager.replay.runner import refetch

        async with open_forager(settings, application="forager replay") as forager:
            pages = await refetch(forager, await self._order(forager), by=whoami(), dry=dry)
            if not dry:
                await note(forager.database, Noted("page.refetch", "page", None, self._given | {"pages": pages}))
            return pages

    async def _order(self, forager: Any) -> "ReplayOrder":
        from dataclasses import replace

        from forager.replay.service import Into, ReplayOrder, of_task, read_one

        if self._id is not None:
            async with forager.pool.acquire() as conn:
                found = await read_one(conn, self._id)
            if found.is_finished:
                raise UsageError(f"Replay {self._id} is finished.")
            return found.order
        into = Into.SHADOW if self._is_shadow else Into.LIVE
        if self._task is None:
            return ReplayOrder(**self._given, into=into)
        async with forager.pool.acquire() as conn:
            order = await of_task(conn, self._task, default_policy=forager.settings.storage.content_policy)
        return replace(order, parser=self._given["parser"], extractor=self._given["extractor"], into=into)


@contextlib.contextmanager
def _listening(stop: "StopRequest") -> Iterator[None]:
    import asyncio

    loop = asyncio.get_running_loop()
    for number_ in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number_, stop.ask)
    try:
        yield
    finally:
        for number_ in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number_)


@contextlib.contextmanager
def _progress() -> Iterator[Any]:
    """A line that moves on a terminal; nothing elsewhere."""
    import sys

    if not sys.stderr.isatty():
        yield lambda _tally, _stored: None
        return
    with output.console("stderr").status("reading stored bodies…", spinner="dots") as status:

        def show(tally: "ReplayProgress", stored: "Stored") -> None:
            done, total = words.count(tally.pages), words.count(stored.pages)
            status.update(f"{done} of {total} pages read again, {words.count(tally.changed)} differ")

        yield show


def _report_refetch(pages: int, *, dry: bool, as_json: bool) -> None:
    if as_json:
        output.write_json({"pages": pages, "is_dry": dry})
        return
    told = words.things(pages, "page")
    if dry:
        output.say(f"{told} would be visited again. Nothing was changed.")
    else:
        output.say(f"{told} queued at priority 2; `forager refresh` or the next crawl visits them.")


def _report_dry_run(stored: "Stored", *, as_json: bool) -> None:
    if as_json:
        output.write_json(stored._asdict())
        return
    told = f"{words.things(stored.pages, 'page')} of {words.things(stored.domains, 'domain')} would be read again"
    gone = f"; of {words.count(stored.deleted)} more the body was deleted" if stored.deleted else ""
    output.say(f"{told}{gone}. Nothing was read.")


def _tell(done: "Replayed", *, is_shadow: bool, as_json: bool) -> None:
    if as_json:
        output.write_json(asdict(done) | {"stored": done.stored._asdict()})
        return
    tally = done.tally
    _write_fields(tally)
    if tally.versions:
        output.say(
            f"{words.things(tally.versions, 'older version')} read,"
            f" {words.things(tally.prices, 'price')} added to the history."
        )
    for reason, pages in sorted(tally.left.items()):
        output.say(f"{words.things(pages, 'page')} left: {LEFT.get(reason, words.plain_reason(reason))}.")
    where = "Nothing live was changed." if is_shadow else f"{words.things(tally.written, 'page')} written."
    head = (
        f"Replay {done.id}: {words.things(tally.read, 'page')} read again, {words.count(tally.changed)} differ. {where}"
    )
    output.say(head)
    if not done.is_finished:
        output.say("Stopped; the same command resumes.")


def _write_fields(tally: "ReplayProgress") -> None:
    if not tally.fields:
        return
    kinds = ("changed", "gained", "lost")
    rows = [
        (name, *(words.count(counts.get(kind, 0)) for kind in kinds), _example(tally, name))
        for name, counts in sorted(tally.fields.items(), key=lambda item: -sum(item[1].values()))
    ]
    table.write(("field", *(number(kind) for kind in kinds), text_column("for example")), rows)


def _example(tally: "ReplayProgress", name: str) -> str:
    shown = tally.examples.get(name)
    if not shown:
        return ""
    old, new = (_short(shown[0][side]) for side in ("old", "new"))
    return f"{old} → {new}"


def _short(value: object) -> str:
    text = words.clean("–" if value is None else str(value))
    return text if len(text) <= 40 else text[:39] + "…"
