"""`forager refresh`: visits again what is due, under the order each site was crawled with; `--watch` stays with it."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from forager.cli import command_hints as hints
from forager.cli import format as words
from forager.cli import output
from forager.cli.flags import Home
from forager.cli.help import Command
from forager.cli.start import begin, require_bucket, whoami
from forager.errors import NotFoundError
from forager.frontier.outcome_kind import OutcomeKind
from forager.runs.commands.crawl import (
    Contact,
    Delay,
    ImagesFlag,
    KeepFlag,
    MaxPages,
    Quiet,
    RenderingFlag,
    Workers,
    as_document,
    listen,
    require_browser,
)
from forager.runs.commands.ending import exit_code, is_redirect
from forager.runs.commands.outcome_counts import count_by_label
from forager.runs.models import RunSpec
from forager.seeds.commands import arguments as seeds

if TYPE_CHECKING:
    from forager.config.settings import Settings
    from forager.instance import Forager
    from forager.runs.models import RunReport

Names = Annotated[list[str] | None, typer.Argument(metavar="DOMAIN", help="Only these domains; by default all.")]
Now = Annotated[bool, typer.Option("--now", help="Also sites that were crawled completely and are not due yet.")]
Watch = Annotated[bool, typer.Option("--watch", help="Wait for what becomes due, until Ctrl-C.")]
AsJson = Annotated[bool, typer.Option("--json", help="A list of summaries as JSON on standard output.")]


def register(app: typer.Typer) -> None:
    app.command("refresh", cls=Command, rich_help_panel="Crawl")(refresh)


def refresh(
    names: Names = None,
    *,
    now: Now = False,
    watch: Watch = False,
    max_pages: MaxPages = None,
    delay: Delay = None,
    workers: Workers = None,
    contact: Contact = None,
    keep: KeepFlag = None,
    images: ImagesFlag = None,
    rendering: RenderingFlag = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Visit pages again: recurring ones that are due, and sites whose refresh is due."""
    settings = begin(
        home=home,
        contact=contact,
        workers=workers,
        storage_content_policy=keep.value if keep else None,
        images_policy=images.value if images else None,
        browser_rendering=rendering.value if rendering else None,
    )
    require_browser(settings)
    require_bucket(settings)
    import asyncio

    order = _Order(settings, _canonical(names), now, watch, max_pages, delay, quiet)
    reports = asyncio.run(order.run())
    if as_json:
        output.write_json([as_document(report) for report in reports])
    if not quiet:
        _tell(reports, names, is_now=now)
    raise typer.Exit(max((exit_code(report, is_refresh=True) for report in reports), default=0))


def _canonical(names: Sequence[str] | None) -> list[str] | None:
    from forager.urls.domain import domain_of

    return [domain_of(url) for url in seeds.name_seeds(names)] if names else None


@dataclass(frozen=True, slots=True)
class _Order:
    """What the command line said, carried out."""

    settings: "Settings"
    names: list[str] | None
    is_now: bool
    is_watching: bool
    max_pages: int | None
    delay_s: float | None
    is_quiet: bool

    async def run(self) -> list["RunReport"]:
        from forager.engine.stop import StopRequest
        from forager.instance import open_forager
        from forager.runs.commands.display import open_display, show_waiting
        from forager.runs.commands.progress_view import Frame
        from forager.runtime.crawl import SCHEDULER_CONNECTIONS
        from forager.runtime.refresh import RefreshOrder, refresh, wait_for_due

        stop, reports = StopRequest(), []
        workers = self.settings.workers
        order = RefreshOrder(self.names, self.is_now, workers, self.max_pages, self.delay_s, self._check, whoami())
        async with contextlib.AsyncExitStack() as stack:
            with show_waiting("opening the database…", is_quiet=self.is_quiet):
                forager = await stack.enter_async_context(
                    open_forager(self.settings, application="forager refresh", connections=SCHEDULER_CONNECTIONS)
                )
            await self._require_crawled(forager)
            frame = Frame(forager.database.description, self.max_pages, labels={})
            with open_display(frame, is_quiet=self.is_quiet) as display, listen(stop, display):
                while True:
                    reports += await refresh(forager, order, on_progress=display.show, stop=stop)
                    if not self.is_watching or stop.asked:
                        return reports
                    order = replace(order, is_now=False)
                    await wait_for_due(forager, names=self.names, stop=stop)

    def _check(self, spec: RunSpec) -> None:
        seeds.require_contact(spec.seeds, self.settings.contact)

    async def _require_crawled(self, forager: "Forager") -> None:
        from forager.domains.store import find_domains

        async with forager.pool.acquire() as connection:
            known = await find_domains(connection, self.names or ())
        strangers = [name for name in self.names or () if name not in known]
        if strangers:
            raise NotFoundError(
                f"{', '.join(strangers)} was never crawled; `forager domains` lists what was, `forager crawl` begins."
            )


def _tell(reports: Sequence["RunReport"], names: Sequence[str] | None, *, is_now: bool) -> None:
    if not reports:
        output.say(_empty_message(names, is_now=is_now))
        return
    rows = [row for report in reports for row in report.progress.outcomes if row.is_page]
    good = [row for row in rows if row.outcome == OutcomeKind.SUCCESS]
    same = sum(row.pages for row in good if row.reason == "304")
    moved = sum(row.pages for row in good if is_redirect(row.reason))
    had = sum(row.pages for row in good) - moved
    new = sum(report.progress.pages_learned for report in reports)
    redirects = f", {words.things(moved, 'redirect')}" if moved else ""
    output.say(
        f"{words.things(had, 'page')} fetched, {same} of them unchanged (304){redirects}, "
        f"{words.things(new, 'new URL')}."
    )
    if failed := [row for row in rows if row.outcome not in {OutcomeKind.SUCCESS, OutcomeKind.CANCELLED}]:
        number = sum(row.pages for row in failed)
        reasons = ", ".join(f"{words.count(group.pages)} {group.label}" for group in count_by_label(failed))
        output.say(f"{words.things(number, 'page')} failed: {reasons}.")
    if later := sum(report.waiting.get("retry_later", 0) for report in reports):
        output.say(
            f"{words.things(later, 'page')} will be tried again; the same command does it when the time has come."
        )


def _empty_message(names: Sequence[str] | None, *, is_now: bool) -> str:
    """Names a command that does something in this state."""
    name = names[0] if names and len(names) == 1 else None
    if not is_now:
        return f"Nothing is due. `{hints.refresh(name, now=True)}` visits again what was crawled to its end."
    return "Nothing can be visited again now: no page was read yet, or the sites are paused or blocked. " + (
        f"`{hints.why(name)}` says what holds {name}." if name else f"`{hints.DOMAINS}` shows the state of each."
    )
