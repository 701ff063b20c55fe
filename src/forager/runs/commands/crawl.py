"""`forager crawl`: checks everything it was given, crawls with a live display, writes the file, says how it went.

The crawl itself lives in `forager.engine`; this is its door for a person.
"""

import contextlib
import signal
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager.cli import format as words
from forager.cli import option_values, output
from forager.cli.flags import Home, Images, Keep, Rendering
from forager.cli.help import Command
from forager.cli.start import begin, require_bucket, whoami
from forager.errors import ConfigurationError, UsageError
from forager.export.commands.writers import check_writable
from forager.runs.commands.ending import INTERRUPTED, exit_code, list_hints
from forager.runs.models import RunSpec, Scope
from forager.runs.spec import build_spec
from forager.seeds.commands import arguments as seeds
from forager.seeds.commands import report as seed_report

if TYPE_CHECKING:
    from forager.config.settings import Settings
    from forager.engine.stop import StopRequest
    from forager.instance import Forager
    from forager.runs.commands.display import Display
    from forager.runs.models import Holder, ReplacedSetting, RunReport
    from forager.seeds.service import SeedList

STOPPING = "stopping: open requests finish… (again: stop now) The same command resumes."
STOPPING_NOW = "stopping now: open requests are dropped and made again when you resume."
WHAT, HOW_FAR, HOW, TO = "What", "How far", "How", "Output"

Urls = Annotated[
    list[str] | None,
    typer.Argument(metavar="URL", help="Where to start; a bare domain such as example.com means https://example.com/."),
]
SeedFile = Annotated[
    str | None,
    typer.Option("--file", "-f", metavar="FILE", help="A list of URLs or domains; - for stdin.", rich_help_panel=WHAT),
]
Known = Annotated[
    bool, typer.Option("--known", help="All known domains with pages left, instead of URLs.", rich_help_panel=WHAT)
]
ScopeFlag = Annotated[
    Scope | None,
    typer.Option(
        metavar="SCOPE",
        help="page, prefix (its folder), host, domain (sub-domains too), any; remembered.",
        rich_help_panel=WHAT,
    ),
]
Include = Annotated[
    list[str] | None, typer.Option(metavar="GLOB", help="Only URLs like this; repeatable.", rich_help_panel=WHAT)
]
Exclude = Annotated[
    list[str] | None, typer.Option(metavar="GLOB", help="No URLs like this; repeatable.", rich_help_panel=WHAT)
]
MaxPages = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Maximum number of visits.", rich_help_panel=HOW_FAR)
]
MaxPagesPerDomain = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Maximum number of visits to each domain.", rich_help_panel=HOW_FAR),
]
Depth = Annotated[
    int | None,
    typer.Option(
        min=0, max=1000, metavar="N", help="Maximum number of links between a seed and a page.", rich_help_panel=HOW_FAR
    ),
]
Delay = Annotated[
    float | None,
    typer.Option(
        parser=option_values.delay,
        metavar="TIME",
        help="Time between requests to a domain, such as 2s, at least 50ms; robots.txt may ask for more.",
        rich_help_panel=HOW,
    ),
]
Workers = Annotated[
    int | None, typer.Option(min=1, max=256, metavar="N", help="Worker processes.", rich_help_panel=HOW)
]
AllowNetwork = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NET",
        help="Allow this network in the address guard, such as 127.0.0.0/8; repeatable.",
        rich_help_panel=HOW,
    ),
]
KeepFlag = Annotated[
    Keep | None,
    typer.Option(
        "--keep",
        metavar="POLICY",
        help="Bodies: signals (none), text, snapshot, archive (WARC); remembered.",
        rich_help_panel=HOW,
    ),
]
ImagesFlag = Annotated[
    Images | None,
    typer.Option(
        "--images",
        metavar="POLICY",
        help="Images: none, found (where each is shown), download; remembered.",
        rich_help_panel=HOW,
    ),
]
RenderingFlag = Annotated[
    Rendering | None,
    typer.Option(
        "--rendering",
        metavar="WHEN",
        help="A browser runs scripts: never, auto (empty pages), always; remembered.",
        rich_help_panel=HOW,
    ),
]
SitemapsFlag = Annotated[
    bool | None,
    typer.Option("--sitemaps/--no-sitemaps", help="Follow sitemaps of the sites.", rich_help_panel=HOW_FAR),
]
SetFlag = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Any other crawl setting of these sites, such as revisit_every=1d; repeatable.",
        rich_help_panel=HOW,
    ),
]
Contact = Annotated[
    str | None, typer.Option(metavar="WHO", help="E-mail or URL that site owners can write to.", rich_help_panel=HOW)
]
Target = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the visited pages: .jsonl, .csv, - for stdout.",
        rich_help_panel=TO,
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No display and no summary.", rich_help_panel=TO)]
AsJson = Annotated[bool, typer.Option("--json", help="The summary as JSON on standard output.", rich_help_panel=TO)]


def register(app: typer.Typer) -> None:
    app.command("crawl", cls=Command, rich_help_panel="Crawl")(crawl)


def crawl(
    urls: Urls = None,
    *,
    file: SeedFile = None,
    known: Known = False,
    scope: ScopeFlag = None,
    include: Include = None,
    exclude: Exclude = None,
    max_pages: MaxPages = None,
    max_pages_per_domain: MaxPagesPerDomain = None,
    depth: Depth = None,
    delay: Delay = None,
    workers: Workers = None,
    allow_network: AllowNetwork = None,
    contact: Contact = None,
    keep: KeepFlag = None,
    images: ImagesFlag = None,
    rendering: RenderingFlag = None,
    sitemaps: SitemapsFlag = None,
    chosen_settings: SetFlag = None,
    target: Target = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Crawl sites: Ctrl-C stops cleanly, the same command resumes."""
    if as_json and target == "-":
        raise UsageError("--json and -o - both want standard output; give -o a file.")
    if target is not None:
        check_writable(target)
    start = seeds.gather(urls or [], file, is_known=known)
    seeds.check_seed_scope(start, scope or Scope.HOST, include or [], is_known=known)
    chosen = read_flags(
        chosen_settings,
        include=include,
        exclude=exclude,
        max_depth=depth,
        max_pages=max_pages_per_domain,
        max_pages_per="run" if max_pages_per_domain else None,
        delay=delay,
        content=keep,
        images=images,
        rendering=rendering,
        sitemaps=sitemaps,
    )
    if scope is not None and "scope" in chosen:
        raise UsageError("scope is given twice; leave out --set scope.")
    settings = begin(
        home=home,
        contact=contact,
        fetch_allow_networks=allow_network or None,
        workers=workers,
        storage_content_policy=keep.value if keep else None,
        images_policy=images.value if images else None,
        browser_rendering=rendering.value if rendering else None,
    )
    require_browser(settings)
    require_bucket(settings)
    seeds.require_contact((*start.named, *start.first), settings.contact)
    if known:
        seeds.require_known_contact(settings.contact)
    spec = build_spec(
        start.seeds,
        chosen,
        scope=scope,
        default_depth=settings.crawl.max_depth,
        max_pages=max_pages,
        allow_networks=settings.fetch.allow_networks if allow_network else (),
        bare=start.bare,
        is_known=known,
    )
    import asyncio

    if not quiet:
        warn_min_delay(delay)
    if not (quiet or start.listed.is_long):
        seed_report.say_bad_lines(start.tallies)
    try:
        report = asyncio.run(run(settings, spec, target, listed=start.listed, is_quiet=quiet))
    except KeyboardInterrupt:
        output.say("Stopped; the same command resumes.")
        raise typer.Exit(INTERRUPTED) from None
    _tell(report, spec, start, is_quiet=quiet, as_json=as_json)
    raise typer.Exit(exit_code(report))


def read_flags(assignments: Sequence[str] | None, **flags: Any) -> dict[str, Any]:
    """Returns the crawl settings that were given, by name, as they are stored. They become settings of the sites."""
    from forager.config.crawl_settings import SECRETS, canonical_name, read_layer

    given = {name: value for name, value in flags.items() if value is not None}
    for text in assignments or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--set {text!r} has no value; write --set NAME=VALUE, such as --set revisit_every=1d.")
        if canonical_name(name) in SECRETS:
            raise UsageError(f"{name} is a secret: set it with `forager domain NAME set`, which encrypts it.")
        if (setting := canonical_name(name)) in given and setting != "max_pages_per":
            raise UsageError(f"{setting} is given twice; leave out --set {text}.")
        given[setting] = value
    return read_layer(given)


def warn_min_delay(delay_s: float | None) -> None:
    """Who asks for no pace hears what takes it away."""
    from forager.politeness.throttle import LEAST_DELAY_S

    if delay_s is not None and delay_s < LEAST_DELAY_S:
        output.say(
            f"Every host keeps at least {LEAST_DELAY_S:g} s between requests; "
            "FORAGER_POLITENESS_NO_DELAY_HOSTS names those that need no pace."
        )


def require_browser(settings: "Settings") -> None:
    """Who wants every page drawn hears at once what is missing for it."""
    if settings.browser.rendering != Rendering.ALWAYS:
        return
    from forager.fetch.browser.program import find_missing_dependency

    if reason := find_missing_dependency(settings.browser.executable):
        raise ConfigurationError(f"Pages cannot be rendered: {reason}.")


async def run(
    settings: "Settings",
    spec: RunSpec,
    target: str | None = None,
    *,
    listed: "SeedList | None" = None,
    is_quiet: bool = False,
    labels: Mapping[str, str] | None = None,
) -> "RunReport":
    """One crawl from opening the database to the written file."""
    from forager.engine.stop import StopRequest
    from forager.instance import open_forager
    from forager.runs.commands.display import open_display, show_waiting
    from forager.runs.commands.progress_view import Frame
    from forager.runtime import crawl as crawling
    from forager.seeds.service import NO_LIST

    stop = StopRequest()
    async with contextlib.AsyncExitStack() as stack:
        with show_waiting("opening the database…", is_quiet=is_quiet):
            forager = await stack.enter_async_context(
                open_forager(settings, application="forager crawl", connections=crawling.SCHEDULER_CONNECTIONS)
            )
        frame = Frame(forager.database.description, spec.max_pages, labels=labels or {})
        with open_display(frame, is_quiet=is_quiet) as display, listen(stop, display):
            report = await crawling.crawl(
                forager,
                spec,
                workers=settings.workers,
                on_progress=display.show,
                stop=stop,
                by=whoami(),
                listed=listed or NO_LIST,
                on_loaded=lambda loaded: display.show_loading(loaded.seeds),
                on_replaced=lambda replaced: display.notice(say_replaced(replaced)),
                on_held=lambda holders: display.notice(say_holders(holders)),
            )
        if target is not None:
            written = await write_pages(forager, report.progress.run_id, target)
            if target != "-" and not is_quiet:
                output.say(written.sentence(target))
    return report


def say_replaced(replaced: "Sequence[tuple[str, ReplacedSetting]]") -> str:
    """Which settings of the sites were others before this command; one line."""
    from forager.domains.commands.settings_table import format_value

    domains: dict[str, list[str]] = {}
    for domain, setting in replaced:
        before, after = (format_value(setting.name, value) for value in (setting.before, setting.after))
        domains.setdefault(f"{setting.name}: {before} → {after}", []).append(domain)
    parts = []
    for change, names in domains.items():
        others = f" and {words.things(len(names) - 1, 'other domain')}" if len(names) > 1 else ""
        parts.append(f"{change}, remembered for {names[0]}{others}")
    return "; ".join(parts) + "."


def say_holders(holders: "Sequence[Holder]") -> str:
    """Who still crawls what this crawl was asked for, and what happens about it."""
    first = holders[0]
    others = f" and {words.things(len(holders) - 1, 'other domain')}" if len(holders) > 1 else ""
    verb = "are" if others else "is"
    crawl = "`forager up`" if first.is_standing else f"run {first.run}" if first.run else "another run"
    return (
        f"{first.domain}{others} {verb} being crawled by {crawl} (worker {first.worker}, process {first.pid} on "
        f"{first.host}), which hands over when its open requests are done, at the latest at {first.until:%H:%M:%S} UTC."
    )


@contextlib.contextmanager
def listen(stop: "StopRequest", display: "Display") -> Iterator[None]:
    """The first Ctrl-C or SIGTERM asks to stop, the second insists."""

    def stop_once_then_now() -> None:
        if stop.asked:
            stop.stop_now()
            display.notice(STOPPING_NOW)
        else:
            stop.ask()
            display.notice(STOPPING)

    import asyncio

    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)
    for number in signals:
        loop.add_signal_handler(number, stop_once_then_now)
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


@dataclass
class ExportCounts:
    """What is in the file: pages this run read, pages that runs before it read, pages nobody could read."""

    since: datetime
    now: int = 0
    before: int = 0
    unread: int = 0

    async def count(self, rows: AsyncIterator[dict[str, Any]]) -> AsyncIterator[dict[str, Any]]:
        async for row in rows:
            if row["status"] != "fetched":
                self.unread += 1
            elif row["fetched_at"] is not None and row["fetched_at"] >= self.since:
                self.now += 1
            else:
                self.before += 1
            yield row

    def sentence(self, target: str) -> str:
        if not self.now + self.before:
            return f"No page was read; {target} lists {words.things(self.unread, 'page')} that could not be."
        total = words.things(self.now + self.before + self.unread, "page")
        if self.now and not self.before + self.unread:
            return f"{total} written to {target}."
        parts = ((self.now, "of this run"), (self.before, "of earlier runs"), (self.unread, "that could not be read"))
        told = ", ".join(f"{words.count(pages)} {which}" for pages, which in parts if pages or which == "of this run")
        return f"{total} written to {target}: {told}."


async def write_pages(forager: "Forager", run: int, target: str) -> ExportCounts:
    """The visited pages of the whole crawl, also of runs that were interrupted before."""
    from forager.export.commands.writers import write_file
    from forager.export.rows import column_types, stream_crawl
    from forager.stats.store import find_run, run_started_at

    async with (
        forager.pool.acquire() as connection,
        connection.transaction(isolation="repeatable_read", readonly=True),
    ):
        spec = await find_run(connection, run)
        assert spec is not None
        written = ExportCounts(since=await run_started_at(connection, run))
        rows = written.count(stream_crawl(connection, spec))
        await write_file(target, rows, await column_types(connection, "pages"))
        return written


def _tell(report: "RunReport", spec: RunSpec, start: seeds.Start, *, is_quiet: bool, as_json: bool) -> None:
    from forager import clock
    from forager.runs.commands import summary

    bad = sum(tally.bad for tally in start.tallies)
    if as_json:
        output.write_json(as_document(report) | {"bad_lines": bad, "hints": list_hints(report, spec)})
    if is_quiet:
        return
    summary.write(summary.summary_lines(report, spec, clock.now()))
    if start.listed.is_long:
        seed_report.say_bad_lines(start.tallies)
    if bad:
        output.say(f"{words.things(bad, 'bad line')} of the list left out.")


def as_document(report: "RunReport") -> dict[str, Any]:
    """The report for a program."""
    from dataclasses import asdict

    content = asdict(report)
    progress = content.pop("progress")
    return {"end": report.end.value, **progress, **{name: value for name, value in content.items() if name != "end"}}
