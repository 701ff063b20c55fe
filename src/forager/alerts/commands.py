"""`forager alerts`: what a person should look at, and what was done about it."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output, table
from forager.cli.durations import parse_duration
from forager.cli.flags import AsJson, Home, Limit
from forager.cli.help import Command, Group
from forager.cli.start import Noted, begin, run_action, run_query, whoami
from forager.cli.table import Cell, Note, number, text_column, wrap_column
from forager.errors import UsageError

Row = dict[str, Any]
SUMMARY = "List alerts; acknowledge and resolve them, mute rules, set webhooks."
COLOURS = {"open": "red", "acknowledged": "yellow", "resolved": "green"}

Ids = Annotated[list[int], typer.Argument(metavar="ID", help="IDs of alerts.")]
OneId = Annotated[int, typer.Argument(metavar="ID", help="Its ID.")]
RuleName = Annotated[str, typer.Argument(metavar="RULE", help="Its name; `forager alerts rules` lists them.")]
Subject = Annotated[str, typer.Option("--subject", metavar="NAME", help="Only for this subject.")]
Why = Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Reason, stored with the alert.")]


def register(app: typer.Typer) -> None:
    family = typer.Typer(cls=Group, rich_markup_mode=None, subcommand_metavar="[VERB]", help=SUMMARY)
    family.callback(invoke_without_command=True)(alerts)
    for name, function in (
        ("show", show),
        ("ack", ack),
        ("resolve", resolve),
        ("mute", mute),
        ("unmute", unmute),
        ("rules", rules),
        ("targets", targets),
        ("tell", tell),
        ("forget", remove_target),
    ):
        family.command(name, cls=Command)(function)
    app.add_typer(family, name="alerts", rich_help_panel="Look after it")


# Queries -------------------------------------------------------------------------------------------------------------


def alerts(
    context: typer.Context,
    *,
    all: Annotated[bool, typer.Option("--all", help="Also resolved alerts.")] = False,
    rule: Annotated[str | None, typer.Option("--rule", metavar="NAME", help="Only of this rule.")] = None,
    limit: Limit = 100,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """List alerts; acknowledge and resolve them, mute rules, set webhooks."""
    if context.invoked_subcommand is not None:
        if all or rule or as_json or home:
            verb = context.invoked_subcommand
            raise UsageError(f"Flags of `{verb}` stand behind it: forager alerts {verb} --json.")
        return None
    from forager.alerts import service as control

    async def look(connection: Any) -> tuple[list[Row], list[Row]]:
        rows = await control.list_alerts(connection, is_open=not all, rule=rule, limit=limit)
        return rows, await control.list_mutes(connection)

    rows, mutes = run_query(begin(home=home), "alerts", look)
    if as_json:
        return output.write_json_list(rows)
    now = clock.now()
    if rows:
        heads = (number("id"), "rule", wrap_column("about"), "severity", "state", "raised", "last seen")
        table.write(heads, list(_listed(rows, now)))
    else:
        output.say("No alert is open." if not all else "There was never an alert.")
    for mute in mutes:
        about = f" about {words.clean(mute['subject'])}" if mute["subject"] else ""
        output.say(f"{mute['rule']}{about} is muted; it ends {words.format_relative(mute['muted_until'], now)}.")
    return None


def _listed(rows: Sequence[Row], now: datetime) -> Iterator[tuple[str | Cell, ...] | Note]:
    for row in rows:
        muted = " (muted)" if row["is_muted"] else ""
        yield (
            str(row["id"]),
            row["rule"],
            words.clean(row["subject"]) or "–",
            row["severity"],
            Cell(row["status"] + muted, COLOURS[row["status"]]),
            words.format_relative(row["raised_at"], now),
            words.format_relative(row["seen_at"], now),
        )
        yield Note(f"  └─ {words.clean(row['message'])}")


def show(alert: OneId, as_json: AsJson = False, home: Home = None) -> None:
    """Show one alert and its history."""
    from forager.alerts import service as control

    row = run_query(begin(home=home), "alerts", lambda connection: control.describe(connection, alert))
    if as_json:
        return output.write_json(row)
    now = clock.now()
    table.write(
        ("alert", text_column(str(row["id"]))),
        [
            ("rule", row["rule"]),
            ("about", words.clean(row["subject"]) or "–"),
            ("state", Cell(row["status"], COLOURS[row["status"]])),
            ("severity", row["severity"]),
            ("message", words.clean(row["message"])),
            ("what to do", row["runbook"] or "–"),
            *(
                (
                    event["what"],
                    f"{words.format_relative(event['at'], now)} by {words.clean(event['by'])}{_note(event)}",
                )
                for event in row["events"]
            ),
        ],
    )
    return None


def _note(event: Row) -> str:
    return f": {words.clean(event['note'])}" if event["note"] and event["what"] != "raised" else ""


def rules(as_json: AsJson = False) -> None:
    """List the rules: what each checks, and how long it waits."""
    from forager.alerts.service import list_rules

    rows = list_rules()
    if as_json:
        return output.write_json_list(rows)
    table.write(
        ("rule", "severity", number("bad for"), number("good for"), text_column("raised when")),
        [
            (
                row["rule"],
                row["severity"],
                words.duration(row["hold_s"]),
                words.duration(row["quiet_s"]),
                row["says"],
            )
            for row in rows
        ],
    )
    return None


# Changes -------------------------------------------------------------------------------------------------------------


def ack(ids: Ids, reason: Why = None, as_json: AsJson = False, home: Home = None) -> None:
    """Acknowledge alerts: you take care of them; they stay open."""
    from forager.alerts import service as control

    _change(control.acknowledge, ids, reason, as_json, home)


def resolve(ids: Ids, reason: Why = None, as_json: AsJson = False, home: Home = None) -> None:
    """Resolve alerts; a cause that persists raises them again."""
    from forager.alerts import service as control

    _change(control.resolve, ids, reason, as_json, home)


def _change(deed: Any, ids: list[int], reason: str | None, as_json: bool, home: Any) -> None:
    changed = run_action(
        begin(home=home),
        "alerts",
        lambda connection: deed(connection, ids, by=whoami(), reason=reason),
        noted=lambda _done: Noted(f"alert.{deed.__name__}", "alert", None, {"ids": ids, "reason": reason}),
    )
    if as_json:
        return output.write_json(asdict(changed))
    before = len(changed.alerts) - len(changed.changed)
    already = f"; {before} were already, or are resolved" if before else ""
    return output.say(f"{words.things(len(changed.changed), 'alert')} {deed.__name__}d{already}.")


def mute(
    rule: RuleName,
    *,
    span: Annotated[str, typer.Option("--for", metavar="SPAN", help="How long, such as 2h or 3d.")] = "1h",
    subject: Subject = "",
    reason: Why = None,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Send no notifications of a rule for a time."""
    from forager.alerts import service as control

    try:
        seconds = parse_duration(span)
    except ValueError as error:
        raise UsageError(f"--for: {error}.") from None
    muted = run_action(
        begin(home=home),
        "alerts",
        lambda connection: control.mute(connection, rule, seconds=seconds, by=whoami(), subject=subject, reason=reason),
        noted=lambda _done: Noted(
            "alert.mute", "rule", rule, {"seconds": seconds, "subject": subject or None, "reason": reason}
        ),
    )
    if as_json:
        return output.write_json(asdict(muted))
    return output.say(f"No notifications of {rule} until {muted.muted_until:%Y-%m-%d %H:%M} UTC; it is still shown.")


def unmute(rule: RuleName, subject: Subject = "", as_json: AsJson = False, home: Home = None) -> None:
    """Send notifications of a rule again."""
    from forager.alerts import service as control

    was = run_action(
        begin(home=home),
        "alerts",
        lambda connection: control.unmute(connection, rule, subject=subject),
        noted=lambda was: Noted("alert.unmute", "rule", rule, {"subject": subject or None}) if was else None,
    )
    if as_json:
        return output.write_json({"rule": rule, "subject": subject, "was_muted": was})
    return output.say(f"Notifications of {rule} are sent again." if was else f"{rule} was not muted.")


# Webhook targets -----------------------------------------------------------------------------------------------------


def targets(as_json: AsJson = False, home: Home = None) -> None:
    """List the webhooks that receive alerts."""
    from forager.alerts import service as control

    rows = run_query(begin(home=home), "alerts", control.list_targets)
    if as_json:
        return output.write_json_list(rows)
    table.write(
        (number("id"), wrap_column("url"), "receives", "by"),
        [
            (str(row["id"]), words.clean(row["url"]), _format_level(row["severity"]), words.clean(row["created_by"]))
            for row in rows
        ],
    )
    if not rows:
        output.say("No webhook receives alerts. Try: forager alerts tell https://hooks.example/forager")
    return None


def tell(
    url: Annotated[str, typer.Argument(metavar="URL", help="A webhook.")],
    only_critical: Annotated[bool, typer.Option("--only-critical", help="Only critical alerts, no warnings.")] = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Call a webhook when alerts are raised and resolved."""
    from forager.alerts import service as control
    from forager.politeness.guard import guard_from_settings as guard_of
    from forager.webhooks.service import mask_url

    settings, severity = begin(home=home), "critical" if only_critical else "warning"
    guard = guard_of(settings)
    row = run_action(
        settings,
        "alerts",
        lambda connection: control.add_target(connection, url, by=whoami(), severity=severity, guard=guard),
        noted=lambda row: Noted(
            "alert.add_target", "target", row["id"], {"url": mask_url(row["url"]), "severity": severity}
        ),
    )
    if as_json:
        return output.write_json(row)
    return output.say(f"{words.clean(row['url'])} receives {_format_level(severity)}; it is target {row['id']}.")


def remove_target(target: OneId, as_json: AsJson = False, home: Home = None) -> None:
    """Remove a webhook."""
    from forager.alerts import service as control
    from forager.webhooks.service import mask_url

    url = run_action(
        begin(home=home),
        "alerts",
        lambda connection: control.remove_target(connection, target),
        noted=lambda url: Noted("alert.remove_target", "target", target, {"url": mask_url(url)}),
    )
    if as_json:
        return output.write_json({"id": target, "url": url})
    return output.say(f"{words.clean(url)} receives no more alerts.")


def _format_level(severity: str) -> str:
    return "all alerts" if severity == "warning" else "critical alerts"
