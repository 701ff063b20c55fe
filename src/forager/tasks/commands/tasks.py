"""`forager tasks`: lists visits; subcommands submit, pause, resume, cancel and restart them and change their
priority."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import option_values as given
from forager.cli import output, table
from forager.cli.durations import parse_duration, parse_past_time
from forager.cli.flags import AsJson, DomainName, Home, Limit, Parser, Source, StatusCode, TaskKind, TaskStatus, UrlPart
from forager.cli.help import Command, Group
from forager.cli.start import Noted, begin, run_action, run_query, whoami
from forager.cli.table import color_cell, number, wrap_column
from forager.errors import UsageError
from forager.tasks.commands import list as task_list

if TYPE_CHECKING:
    from forager.tasks.bulk import Many, TaskFilter
    from forager.tasks.submit import SubmitResult
    from forager.tasks.transitions import TaskState

SUMMARY = "List and count tasks (visits); submit, pause, resume, cancel and restart them."
WHICH = "Which"
LARGEST_ID = 2**63 - 1
FIRST_NOTED = 20
"""Number of task ids of a long selection that are named in the audit log."""
Ids = Annotated[
    list[int] | None,
    typer.Argument(metavar="[ID]...", min=1, max=LARGEST_ID, help="IDs of tasks.", show_default=False),
]
OneId = Annotated[int, typer.Argument(metavar="ID", min=1, max=LARGEST_ID, help="ID of a task.")]
OfDomain = Annotated[
    str | None, typer.Option("--domain", metavar="NAME", help="All tasks of a domain.", rich_help_panel=WHICH)
]
OfBatch = Annotated[
    str | None, typer.Option("--batch", metavar="NAME", help="All tasks of a batch.", rich_help_panel=WHICH)
]
AtMost = Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, metavar="N", help="Maximum number of tasks.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only list them; change nothing.")]
Reason = Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Reason, stored with the task.")]
Priority = Annotated[int | None, typer.Option("--priority", min=1, max=10, metavar="N", help="1 is first, 10 last.")]
At = Annotated[
    str | None,
    typer.Option("--at", metavar="WHEN", help="When: 2026-01-31T10:00 (UTC), 2h for two hours from now, or now."),
]


def register(app: typer.Typer) -> None:
    family = typer.Typer(cls=Group, rich_markup_mode=None, subcommand_metavar="[VERB]", help=SUMMARY)
    family.callback(invoke_without_command=True)(tasks)
    verbs: dict[str, Callable[..., None]] = {
        "submit": submit,
        "pause": _build_command("pause", "Pause tasks; a running one is abandoned at its next step."),
        "resume": _build_command("resume", "Resume paused tasks now; this counts as no retry."),
        "cancel": _build_command("cancel", "Cancel open tasks; their pages are not visited."),
        "restart": restart,
        "restart-parsing": restart_parsing,
        "restart-failed": restart_failed,
        "priority": priority,
        "stats": stats,
    }
    for name, function in verbs.items():
        family.command(name, cls=Command)(function)
    app.add_typer(family, name="tasks", rich_help_panel="Look")


def tasks(
    context: typer.Context,
    *,
    domain: DomainName = None,
    url: Annotated[str | None, typer.Option(help="Only visits to this page.", metavar="URL")] = None,
    run: Annotated[int | None, typer.Option(help="Only of this run.", metavar="N")] = None,
    batch: Annotated[str | None, typer.Option(help="Only of this batch.", metavar="NAME")] = None,
    status: Annotated[TaskStatus | None, typer.Option(help="Only in this state.")] = None,
    kind: Annotated[TaskKind | None, typer.Option(help="Only visits to pages, or to images.")] = None,
    error: Annotated[str | None, typer.Option(help="Only those that ended with it.", metavar="CODE")] = None,
    code: StatusCode = None,
    contains: UrlPart = None,
    since: Annotated[str | None, typer.Option(help="Only closed since: 2026-01-31, or 12h.", metavar="WHEN")] = None,
    until: Annotated[str | None, typer.Option(help="Only closed before.", metavar="WHEN")] = None,
    created_since: Annotated[str | None, typer.Option(help="Only made since.", metavar="WHEN")] = None,
    created_until: Annotated[str | None, typer.Option(help="Only made before.", metavar="WHEN")] = None,
    created_by: Annotated[str | None, typer.Option(help="Only made by: refresh, cli:you …", metavar="WHO")] = None,
    worker: Annotated[
        int | None, typer.Option(min=1, max=LARGEST_ID, help="Only what this worker works on now.", metavar="N")
    ] = None,
    priority: Priority = None,
    source: Source = None,
    parser: Parser = None,
    is_open: Annotated[
        bool | None, typer.Option("--open/--closed", help="Only the queue, or only the history.")
    ] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """List visits, newest first: the queue and the history."""
    wanted = task_list.TaskOptions(
        domain=domain,
        url=url,
        run=run,
        is_open=is_open,
        status=status,
        batch=batch,
        kind=kind,
        error=error,
        code=code,
        contains=contains,
        worker=worker,
        created_by=created_by,
        created_since=created_since,
        created_until=created_until,
        since=since,
        until=until,
        priority=priority,
        source=source,
        parser=parser,
    )
    if context.invoked_subcommand is not None:
        if any(value is not None for value in wanted) or as_json or home:
            verb = context.invoked_subcommand
            raise UsageError(f"Flags of `{verb}` stand behind it: forager tasks {verb} --json.")
        return
    task_list.list_tasks(wanted, limit=limit, as_json=as_json, home=home)


# submitting ----------------------------------------------------------------------------------------------------------


def submit(
    urls: Annotated[list[str] | None, typer.Argument(metavar="[URL]...", help="What to visit.")] = None,
    *,
    file: Annotated[
        str | None,
        typer.Option(
            "--file", "-f", metavar="FILE", help="A file with a URL, and perhaps a priority, in each line; - for stdin."
        ),
    ] = None,
    priority: Priority = None,
    at: At = None,
    every: Annotated[
        float | None,
        typer.Option("--every", parser=given.span, metavar="TIME", help="Repeat at this interval, such as 6h."),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Visit once; do not repeat.")] = False,
    retries: Annotated[
        int | None, typer.Option("--retries", min=0, max=20, help="Maximum number of retries.", metavar="N")
    ] = None,
    webhook: Annotated[
        str | None, typer.Option("--webhook", metavar="URL", help="URL that is called when the task ends.")
    ] = None,
    after: Annotated[
        int | None, typer.Option("--after", metavar="ID", min=1, max=LARGEST_ID, help="Only after this task is done.")
    ] = None,
    batch: Annotated[str | None, typer.Option("--batch", metavar="NAME", help="Name of the batch.")] = None,
    only: Annotated[
        bool | None,
        typer.Option(
            "--only/--whole-site",
            help="Visit no other page of a site that is not crawled otherwise (the default), or crawl all of it.",
        ),
    ] = None,
    reason: Reason = None,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Submit visits: all of them, or none if one is invalid."""
    from forager.politeness.guard import guard_from_settings as guard_of
    from forager.runs.guard import guard_of_workers
    from forager.tasks.submit import TaskOrder
    from forager.tasks.submit import submit as order

    if once and every is not None:
        raise UsageError("--once and --every contradict each other; leave one out.")
    common: dict[str, Any] = {
        "scheduled_for": parse_future_time(at, clock.now()) if at is not None else None,
        "is_recurring": False if once else None,
        "revisit_every_s": every,
        "max_retries": retries,
        "webhook_url": webhook,
        "depends_on": after,
    }
    settings = begin(home=home)
    wanted = [(url, priority) for url in urls or ()] + (read_lines(file, priority) if file is not None else [])
    orders: list[TaskOrder] = [TaskOrder(url, each, **common) for url, each in wanted]

    async def submit_all(conn: Any) -> "SubmitResult":
        guard = await guard_of_workers(conn, guard_of(settings))
        return await order(conn, orders, by=whoami(), reason=reason, batch=batch, guard=guard, is_only=only)

    done = run_action(
        settings,
        "tasks",
        submit_all,
        noted=lambda done: Noted(
            "task.submit_batch" if done.batch else "task.submit",
            "batch" if done.batch else "task",
            done.batch_id or done.tasks[0].task_id,
            {"name": done.batch, "tasks": len(done.tasks), "url": done.tasks[0].url, "reason": reason},
        ),
    )
    if as_json:
        return output.write_json(asdict(done))
    write_states(done.tasks)
    known = len(done.tasks) - done.new
    words_known = f", {words.count(known)} of them were open already" if known else ""
    name = f" in batch {words.clean(done.batch)!r}" if done.batch else ""
    return output.say(f"{words.things(len(done.tasks), 'task')}{name}{words_known}.")


def parse_future_time(text: str, now: datetime) -> datetime:
    """A date or time (UTC unless it says otherwise), in how long, or `now`."""
    if text.strip() == "now":
        return now
    try:
        return now + timedelta(seconds=parse_duration(text.strip().removeprefix("in ")))
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise UsageError(f"--at {text!r} is no time; write it like 2026-01-31, 2026-01-31T12:00, 2h or 7d.") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def read_lines(file: str, priority: int | None) -> list[tuple[str, int | None]]:
    """URL and priority of each line; empty lines and those that begin with # are left out."""
    import sys

    try:
        if file == "-":
            text = sys.stdin.read()
        else:
            with open(file, encoding="utf-8") as stream:
                text = stream.read()
    except UnicodeDecodeError:
        raise UsageError(f"{file} is no text in UTF-8.") from None
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror or error}.") from None
    wanted: list[tuple[str, int | None]] = []
    for place, line in enumerate(text.splitlines(), 1):
        parts = line.split()
        if not parts or parts[0].startswith("#"):
            continue
        if len(parts) > 2 or (len(parts) == 2 and not parts[1].isdecimal()):
            raise UsageError(f"Line {place} of {file} is no URL with a priority behind it.")
        wanted.append((parts[0], int(parts[1]) if len(parts) == 2 else priority))
    return wanted


# subcommands ---------------------------------------------------------------------------------------------------------


def _build_command(name: str, sentence: str) -> Callable[..., None]:
    """A command for one verb: for numbered tasks, or for those of a domain or a batch."""

    def run_command(
        ids: Ids = None,
        *,
        domain: OfDomain = None,
        batch: OfBatch = None,
        limit: AtMost = 10_000,
        dry_run: DryRun = False,
        reason: Reason = None,
        as_json: AsJson = False,
        home: Home = None,
    ) -> None:
        from forager.tasks import bulk as many
        from forager.tasks import service as one

        known = {
            "pause": (one.pause, many.pause_many),
            "resume": (one.resume, many.resume_many),
            "cancel": (one.cancel, many.cancel_many),
        }
        chosen = _BulkOptions(ids, domain, batch, limit, dry_run)
        _order(*known[name], chosen, reason, as_json=as_json, home=home)

    run_command.__doc__ = sentence
    return run_command


def restart(
    ids: Annotated[list[int], typer.Argument(metavar="ID...", min=1, max=LARGEST_ID, help="IDs of tasks.")],
    *,
    priority: Priority = None,
    at: At = None,
    keep_tries: Annotated[bool, typer.Option("--keep-tries", help="Keep the retry count.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Also open tasks: they are cancelled first.")] = False,
    reason: Reason = None,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Visit the pages of closed tasks again, with new tasks."""
    from forager.tasks import service as control

    when = parse_future_time(at, clock.now()) if at is not None else None

    async def each(conn: Any) -> list["TaskState"]:
        return [
            await control.restart(
                conn,
                task,
                by=whoami(),
                reason=reason,
                reset_retry_count=not keep_tries,
                priority=priority,
                scheduled_at=when,
                force=force,
            )
            for task in sorted(set(ids))
        ]

    _tell_each(run_action(begin(home=home), "tasks", each, noted=partial(noted_each, "restart", reason)), as_json)


def restart_parsing(task: OneId, *, as_json: AsJson = False, home: Home = None) -> None:
    """Parse the stored body of a task again, without any request."""
    from forager.replay import commands as replay

    replay.replay(task=task, as_json=as_json, home=home)


def restart_failed(
    *,
    domain: DomainName = None,
    error: Annotated[str | None, typer.Option("--error", metavar="CODE", help="Only with this error code.")] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="WHEN", help="Only failed since: 2026-01-31, or 12h ago.")
    ] = None,
    limit: AtMost = 1000,
    dry_run: DryRun = False,
    reason: Reason = None,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Visit pages again whose last visit failed, the newest first."""
    from forager.tasks import bulk as tasks_many

    after = parse_past_time(since, clock.now()) if since is not None else None
    done = run_action(
        begin(home=home),
        "tasks",
        lambda conn: tasks_many.restart_failed(
            conn,
            by=whoami(),
            reason=reason,
            domain=domain,
            error_code=error,
            failed_after=after,
            limit=limit,
            dry_run=dry_run,
        ),
        noted=partial(noted_many, reason=reason, domain=domain, error_code=error),
    )
    tell_many(done, as_json)


def priority(
    level: Annotated[int, typer.Argument(metavar="N", min=1, max=10, help="1 is first, 10 last.")],
    ids: Ids = None,
    *,
    domain: OfDomain = None,
    batch: OfBatch = None,
    limit: AtMost = 10_000,
    dry_run: DryRun = False,
    reason: Reason = None,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Set the priority of open tasks, from the next claim on."""
    from forager.tasks import bulk as tasks_many
    from forager.tasks import service as control

    async def set_priority(conn: Any, task: int, **more: Any) -> "TaskState":
        return await control.set_priority(conn, task, level, **more)

    async def many(conn: Any, which: "TaskFilter", **more: Any) -> "Many":
        return await tasks_many.set_priority_many(conn, which, level, **more)

    chosen = _BulkOptions(ids, domain, batch, limit, dry_run)
    _order(set_priority, many, chosen, reason, as_json=as_json, home=home)


def stats(
    *,
    since: Annotated[str, typer.Option("--since", metavar="WHEN", help="Closed since: 2026-01-31, or 12h.")] = "1d",
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Count tasks by state, with how long they took and waited."""
    from forager.tasks import service as control

    after = parse_past_time(since, clock.now())
    rows = run_query(begin(home=home), "tasks", lambda conn: control.count(conn, since=after))
    if as_json:
        return output.write_json_list(rows)
    table.write(
        ("state", number("tasks"), number("took"), number("waited")),
        [
            (
                color_cell(row["status"]),
                words.count(row["tasks"]),
                _seconds(row["average_s"]),
                _seconds(row["waiting_s"]),
            )
            for row in rows
        ],
    )
    return output.say("Open tasks, and those closed since. Took: from request to outcome; waited: from due to request.")


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:,.2f} s"


class _BulkOptions(NamedTuple):
    """What the command line says of the tasks an order is for."""

    ids: Sequence[int] | None
    domain: str | None
    batch: str | None
    limit: int
    dry_run: bool


def _order(
    one: Callable[..., Awaitable["TaskState"]],
    many: Callable[..., Awaitable["Many"]],
    chosen: _BulkOptions,
    reason: str | None,
    *,
    as_json: bool,
    home: Path | None,
) -> None:
    """Numbered tasks one by one, so that each has its sentence; others as one order."""
    from forager.tasks.batches import find_batch
    from forager.tasks.bulk import TaskFilter

    given, who = tuple(dict.fromkeys(chosen.ids or ())), whoami()
    if given and chosen.domain is None and chosen.batch is None and not chosen.dry_run:

        async def each(conn: Any) -> list["TaskState"]:
            return [await one(conn, task, by=who, reason=reason) for task in sorted(given)]

        noted = partial(noted_each, one.__name__.removeprefix("set_"), reason)
        return _tell_each(run_action(begin(home=home), "tasks", each, noted=noted), as_json)

    async def apply_bulk(conn: Any) -> "Many":
        number = (await find_batch(conn, chosen.batch))["id"] if chosen.batch is not None else None
        which = TaskFilter(given, chosen.domain, number)
        return await many(conn, which, by=who, reason=reason, limit=chosen.limit, dry_run=chosen.dry_run)

    noted_them = partial(noted_many, reason=reason, domain=chosen.domain, batch=chosen.batch)
    return tell_many(run_action(begin(home=home), "tasks", apply_bulk, noted=noted_them), as_json)


def noted_each(verb: str, reason: str | None, states: Sequence["TaskState"]) -> Noted | None:
    changed = [state.task_id for state in states if state.was_changed]
    if not changed:
        return None
    return Noted(
        f"task.{verb}", "task", changed[0] if len(changed) == 1 else None, {"tasks": changed, "reason": reason}
    )


def noted_many(done: "Many", **details: Any) -> Noted | None:
    if done.is_dry:
        return None
    first = [task.task_id for task in done.tasks[:FIRST_NOTED]]
    return Noted(f"tasks.{done.verb}", "task", None, {**details, "tasks": len(done.tasks), "first": first})


# output --------------------------------------------------------------------------------------------------------------


def _tell_each(states: Sequence["TaskState"], as_json: bool) -> None:
    if as_json:
        return output.write_json_list([asdict(state) for state in states])
    for state in states:
        output.say(f"Task {state.task_id}: {state.message}")
    return None


def tell_many(done: "Many", as_json: bool) -> None:
    if as_json:
        return output.write_json(asdict(done))
    write_states(done.tasks)
    verb, told = done.verb, words.things(len(done.tasks), "task")
    if done.is_dry:
        output.say(f"{verb}: would be for {told}. Nothing was changed.")
    else:
        output.say(f"{verb}: {told}.")
    if not done.is_all:
        output.say("There may be more; repeat the command.")
    return None


def write_states(states: Sequence["TaskState"]) -> None:
    now: datetime = clock.now()
    table.write(
        (number("task"), "status", number("priority"), number("try"), "when", wrap_column("url")),
        [
            (
                str(state.task_id),
                color_cell(state.status),
                str(state.priority),
                str(state.retry_count + 1),
                words.format_relative(state.scheduled_for, now),
                words.clean(state.url),
            )
            for state in states
        ],
    )
