"""One domain on one screen. Takes what `control.look.describe_domain` gives; only prints."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from forager.cli import output, words
from forager.cli.tally import label_of

Card = dict[str, Any]
LABEL_WIDTH = 12


def write_card(card: Card, now: datetime) -> None:
    from rich.text import Text

    screen = output.console()
    screen.print(Text(words.clean(card["name"]), style="bold"))
    for label, value in card_lines(card, now):
        line = Text(f"  {label:<{LABEL_WIDTH}}", style="dim")
        screen.print(line.append(words.clean(value), style="not dim"))


def card_lines(card: Card, now: datetime) -> list[tuple[str, str]]:
    """Label and value of every line; a label is empty where a line belongs to the one above."""
    lines = [
        ("status", _status(card, now)),
        ("pages", _pages(card)),
        ("errors", f"{words.count(card['total_error_count'])} in all, {card['consecutive_error_count']} in a row"),
        ("pace", _pace(card, now)),
        (
            "seen",
            f"first {words.age(card['first_seen_at'], now)}, last crawled {words.age(card['last_crawled_at'], now)}",
        ),
        *_listed("robots.txt", (_robots(origin, now) for origin in card["origins"])),
        *_listed("visits", (_visits(row) for row in card["outcomes"][:8])),
        ("keeps", f"content policy {card['content_policy']}"),
    ]
    return [(label, value) for label, value in lines if value]


def _status(card: Card, now: datetime) -> str:
    text = str(card["status"])
    if reason := card["block_reason"] or words.plain_reason(card["block_reason_code"]):
        text += f": {reason}"
    if card["is_leased"]:
        text += f", leased by worker {card['claimed_by']} (ends {words.age(card['claim_expires_at'], now)})"
    if not card["is_active"]:
        text += ", switched off"
    if card["next_crawl_after"] and card["next_crawl_after"] > now:
        text += f", rests, goes on {words.age(card['next_crawl_after'], now)}"
    return text


def _pages(card: Card) -> str:
    states = ", ".join(f"{words.count(pages)} {state}" for state, pages in card["page_states"].items())
    return f"{words.count(card['pages_discovered'])} known" + (f": {states}" if states else "")


def _pace(card: Card, now: datetime) -> str:
    delay = "the default delay" if card["crawl_delay_s"] is None else f"{card['crawl_delay_s']:g} s between requests"
    due = card["next_allowed_at"]
    return f"{delay}, next request allowed {words.age(due, now)}" if due and due > now else delay


def _robots(origin: Card, now: datetime) -> str:
    when = words.age(origin["robots_fetched_at"], now)
    if origin["robots_error"]:
        return f"{origin['origin']} could not be had {when}: {origin['robots_error']}"
    length = f", {words.count(origin['robots_length'])} characters" if origin["robots_length"] else ""
    return f"{origin['origin']} answered {origin['robots_status_code']} {when}{length}"


def _visits(row: Card) -> str:
    label, _ = label_of(row["outcome"], row["reason"])
    return f"{words.count(row['tasks'])} {label}"


def _listed(label: str, values: Iterable[str]) -> list[tuple[str, str]]:
    return [(label if index == 0 else "", value) for index, value in enumerate(values)]
