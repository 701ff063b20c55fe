"""`forager task ID`: one task on one screen, with the other visits of its page and the operator actions on it."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output
from forager.cli.flags import AsJson, Home
from forager.cli.help import Command
from forager.cli.start import begin, run_query
from forager.cli.table import wrap_text
from forager.tasks.commands.tasks import OneId

Card = dict[str, Any]
LABEL_WIDTH = 12
MARGIN = 2 + LABEL_WIDTH
SHOWN = 8


def register(app: typer.Typer) -> None:
    app.command("task", cls=Command, rich_help_panel="Look")(task)


def task(
    number: OneId,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Show one task, the other visits to its page, and its orders."""
    from forager.tasks import service as tasks

    card = run_query(begin(home=home), "task", lambda connection: tasks.describe(connection, number))
    if as_json:
        return output.write_json(card)
    from rich.text import Text

    screen = output.console()
    screen.print(Text(f"task {card['id']}  {words.clean(card['url'])}", style="bold"))
    for label, value in card_lines(card, clock.now()):
        shown = wrap_text(" " * MARGIN + words.clean(value), screen.width, MARGIN)
        screen.print(Text(f"  {label:<{LABEL_WIDTH}}", style="dim").append(shown[MARGIN:], style="not dim"))
    return None


def card_lines(card: Card, now: datetime) -> list[tuple[str, str]]:
    """Label and value of every line; a label is empty where a line belongs to the one above."""
    lines = [
        ("status", _status(card)),
        ("error", card["error_message"] or words.plain_reason(card["error_code"])),
        ("page", f"{card['page_status']}; {card['domain']} is {_domain(card)}"),
        ("priority", f"{card['priority']} (1 is first, 10 last)"),
        ("tries", _format_attempts(card)),
        ("times", ", ".join(_times(card, now))),
        ("answer", _format_response(card)),
        ("again", _format_revisit(card)),
        ("waits for", f"task {card['depends_on']}" if card["is_waiting"] else ""),
        ("batch", f"{card['batch']} ({card['batch_id']})" if card["batch_id"] else ""),
        ("made by", card["created_by"]),
        ("body", card["body_ref"] or ""),
        ("webhook", _webhook(card, now)),
        *_listed("orders", (_order(row, now) for row in card["orders"][:SHOWN])),
        *_listed("visits", (_visit(row, now) for row in card["history"][:SHOWN])),
    ]
    return [(label, value) for label, value in lines if value]


def _status(card: Card) -> str:
    if card["outcome"] and card["outcome"] not in {card["status"], "success"}:
        return f"{card['status']}: {words.plain_reason(card['outcome'])}"
    held = f", worker {card['locked_by']} has it" if card["locked_by"] else ""
    return f"{card['status']}{held}"


def _domain(card: Card) -> str:
    return f"{card['domain_status']}{'' if card['domain_is_active'] else ', paused'}"


def _format_attempts(card: Card) -> str:
    most = f", {card['max_retries']} more at most" if card["max_retries"] is not None else ""
    after = f"; follows task {card['parent_task_id']}" if card["parent_task_id"] else ""
    return f"number {card['retry_count'] + 1}{most}{after}"


def _times(card: Card, now: datetime) -> Iterator[str]:
    named = {"ordered": "created_at", "due": "scheduled_for", "requested": "requested_at", "closed": "completed_at"}
    for label, column in named.items():
        if card[column] is not None:
            yield f"{label} {words.format_relative(card[column], now)}"
    if card["completed_at"] is None and card["updated_at"] > card["created_at"]:
        yield f"last changed {words.format_relative(card['updated_at'], now)}"


def _format_response(card: Card) -> str:
    if card["status_code"] is None:
        return ""
    took = f" in {words.count(card['response_time_ms'])} ms" if card["response_time_ms"] is not None else ""
    size = f", {words.size(card['bytes'])}" if card["bytes"] is not None else ""
    return f"{card['status_code']}{took}{size}"


def _format_revisit(card: Card) -> str:
    if not card["is_recurring"]:
        return "once, and not again after it"
    every_s = card["revisit_every_s"]
    return f"every {words.duration(every_s)}, as it was ordered" if every_s else ""


def _webhook(card: Card, now: datetime) -> str:
    if card["webhook_url"] is None:
        return ""
    if card["webhook_delivered_at"]:
        state = f"delivered {words.format_relative(card['webhook_delivered_at'], now)}"
    elif card["webhook_died_at"]:
        state = f"given up {words.format_relative(card['webhook_died_at'], now)}: {card['webhook_error']}"
    elif card["webhook_tries"]:
        state = f"tried {words.things(card['webhook_tries'], 'time')}, {card['webhook_error'] or 'no answer yet'}"
    else:
        state = "waiting"
    return f"{card['webhook_url']} ({state})"


def _order(row: Card, now: datetime) -> str:
    move = row["to_status"] if row["from_status"] is None else f"{row['from_status']} → {row['to_status']}"
    why = f": {row['reason']}" if row["reason"] else ""
    return f"{words.format_relative(row['ordered_at'], now)}: {row['verb']} by {row['ordered_by']}, {move}{why}"


def _visit(row: Card, now: datetime) -> str:
    how = row["outcome"] or row["status"]
    code = f" {row['status_code']}" if row["status_code"] else f" {words.plain_reason(row['error_code'])}".rstrip()
    when = words.format_relative(row["completed_at"] or row["scheduled_for"], now)
    return f"task {row['id']}: {words.plain_reason(how)}{code}, {when}"


def _listed(label: str, values: Iterator[str]) -> Iterator[tuple[str, str]]:
    for place, value in enumerate(values):
        yield (label if place == 0 else "", value)
