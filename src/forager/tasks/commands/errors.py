"""`forager errors`: lists failures by problem, shows one problem in full, and retries what failed for good."""

from dataclasses import asdict
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output, table
from forager.cli.durations import parse_duration
from forager.cli.flags import AsJson, Home, Limit
from forager.cli.help import Command
from forager.cli.start import Noted, begin, run_action, run_query, whoami
from forager.cli.table import number, text_column, wrap_column
from forager.errors import UsageError

if TYPE_CHECKING:
    from forager.tasks.failures import Pattern

Row = dict[str, Any]


class Kind(StrEnum):
    """The categories; spelled out here because `--help` must not load the rest."""

    NETWORK = "network"
    SITE = "site"
    PARSE = "parse"
    VALIDATION = "validation"
    US = "us"


def register(app: typer.Typer) -> None:
    app.command("errors", cls=Command, rich_help_panel="Look after it")(errors)


def errors(
    fingerprint: Annotated[
        str | None,
        typer.Argument(metavar="FINGERPRINT", help="Show one problem in full; the first characters are enough."),
    ] = None,
    *,
    since: Annotated[str, typer.Option("--since", metavar="SPAN", help="How far to look back.")] = "1d",
    category: Annotated[Kind | None, typer.Option("--category", help="Only these.")] = None,
    dead: Annotated[
        bool, typer.Option("--dead", help="Visits given up: by a fault of Forager, or after all retries.")
    ] = False,
    redrive: Annotated[
        bool, typer.Option("--redrive", help="Retry: this problem, or all permanently failed visits.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="With --redrive: only show what it would do.")] = False,
    limit: Limit = 30,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Show errors, grouped by problem."""
    span = _span(since)
    if redrive:
        if not (fingerprint or dead):
            raise UsageError("What is to be tried again? Name a problem, or take all that is dead with --dead.")
        if fingerprint and category:
            raise UsageError("A problem has one category: name the problem, or --dead with the category.")
        return _redrive(fingerprint, category, span, dry_run=dry_run, as_json=as_json, home=home)
    if dry_run:
        raise UsageError("--dry-run belongs to --redrive.")
    if dead:
        return _dead(category, limit, as_json, home)
    if fingerprint:
        return _one(fingerprint, span, as_json, home)
    return _all(span, category, limit, as_json, home)


def _span(text: str) -> timedelta:
    try:
        return timedelta(seconds=parse_duration(text))
    except ValueError as error:
        raise UsageError(f"--since: {error}.") from None


def _all(span: timedelta, category: Kind | None, limit: int, as_json: bool, home: Any) -> None:
    from forager.tasks import failures as control

    found = run_query(
        begin(home=home),
        "errors",
        lambda connection: control.patterns(connection, since=span, category=category, limit=limit),
    )
    if as_json:
        return output.write_json_list([asdict(each) for each in found])
    if not found:
        return output.say("No errors in this time.")
    now = clock.now()
    table.write(
        ("fingerprint", "category", number("failures"), number("domains"), "first", "last", text_column("what")),
        [
            (
                each.fingerprint,
                each.category.value,
                words.count(each.failures),
                words.count(each.domains),
                words.format_relative(each.first_at, now),
                words.format_relative(each.last_at, now),
                _format_pattern(each),
            )
            for each in found
        ],
    )
    total = sum(each.failures for each in found)
    problems = words.things(len(found), "problem")
    return output.say(f"{words.things(total, 'failure')}, {problems}. `forager errors FINGERPRINT` shows one in full.")


def _format_pattern(pattern: "Pattern") -> str:
    return words.clean(f"{pattern.code}: {pattern.shape}" if pattern.shape else pattern.code)


def _one(fingerprint: str, span: timedelta, as_json: bool, home: Any) -> None:
    from forager.tasks import failures as control

    row = run_query(
        begin(home=home), "errors", lambda connection: control.describe(connection, fingerprint, since=span)
    )
    found: Pattern = row["pattern"]
    if as_json:
        return output.write_json({**row, "pattern": asdict(found)})
    now = clock.now()
    table.write(
        ("problem", text_column(found.fingerprint)),
        [
            ("category", f"{found.category.value} ({found.code}, blamed on {found.blame})"),
            ("what", words.clean(found.shape)),
            ("for example", words.clean(found.sample)),
            ("where", words.clean(row["sample_url"]) or "–"),
            ("failures", f"{words.count(found.failures)} in {words.things(found.domains, 'domain')}"),
            (
                "first, last",
                f"{words.format_relative(found.first_at, now)}, {words.format_relative(found.last_at, now)}",
            ),
        ],
    )
    _write_rows(
        ("domain", "failures", "last"),
        [
            (words.clean(each["domain"]), words.count(each["failures"]), words.format_relative(each["last_at"], now))
            for each in row["domains"]
        ],
    )
    _write_rows(
        ("day", "failures", "domains"),
        [(str(each["day"]), words.count(each["failures"]), words.count(each["domains"])) for each in row["days"]],
    )
    if row["stack"]:
        output.say("\n" + "\n".join(words.clean(line) or "" for line in row["stack"].rstrip().splitlines()))
    return None


def _write_rows(heads: tuple[str, str, str], rows: list[tuple[str, str, str]]) -> None:
    if rows:
        output.say("")
        table.write((wrap_column(heads[0]), number(heads[1]), number(heads[2])), rows)


def _dead(category: Kind | None, limit: int, as_json: bool, home: Any) -> None:
    from forager.tasks import failures as control

    row = run_query(
        begin(home=home),
        "errors",
        lambda connection: control.list_dead(connection, category=category, limit=limit),
    )
    if as_json:
        return output.write_json(row)
    now = clock.now()
    if not (row["tasks"] or row["webhooks"]):
        return output.say("Nothing was given up.")
    table.write(
        ("what", number("id"), "cause", wrap_column("url"), "died", text_column("why")),
        [
            *(
                (
                    "visit",
                    str(each["task_id"]),
                    each["category"],
                    words.clean(each["url"]),
                    words.format_relative(each["died_at"], now),
                    words.clean(f"{each['code']}: {each['message']}"),
                )
                for each in row["tasks"]
            ),
            *(
                (
                    "webhook",
                    str(each["id"]),
                    "–",
                    words.clean(each["url"]),
                    words.format_relative(each["died_at"], now),
                    words.clean(each["error"] or f"it answered {each['status_code']}"),
                )
                for each in row["webhooks"]
            ),
        ],
    )
    same = ", with the same --category" if category else ""
    return output.say(f"`forager errors --dead --redrive` tries these again{same}.")


def _redrive(
    fingerprint: str | None, category: Kind | None, span: timedelta, *, dry_run: bool, as_json: bool, home: Any
) -> None:
    from forager.tasks import failures as control

    done = run_action(
        begin(home=home),
        "errors",
        lambda connection: control.redrive(
            connection,
            by=whoami(),
            fingerprint=fingerprint,
            category=category,
            since=span if fingerprint else control.ALL_TIME,
            dry_run=dry_run,
        ),
        noted=lambda done: (
            None if dry_run else Noted("errors.redrive", "error", done.fingerprint, {"tasks": len(done.tasks)})
        ),
    )
    if as_json:
        return output.write_json(asdict(done))
    would = "would be tried again" if dry_run else "tried again"
    calls = f" and {words.things(done.webhooks, 'webhook')}" if done.webhooks else ""
    return output.say(f"{words.things(len(done.tasks), 'visit')}{calls} {would}.")
