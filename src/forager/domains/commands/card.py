"""Prints one domain on one screen, from the result of `domains.queries.describe_domain`."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from forager.cli import format as words
from forager.cli import output
from forager.cli.table import wrap_text
from forager.domains.score_terms import LABELS
from forager.runs.commands.outcome_counts import label_of

Card = dict[str, Any]
LABEL_WIDTH = 12
MARGIN = 2 + LABEL_WIDTH
MOST_SITEMAPS = 5


def write_card(card: Card, now: datetime) -> None:
    from rich.text import Text

    screen = output.console()
    screen.print(Text(words.clean(card["name"]), style="bold"))
    for label, value in card_lines(card, now):
        shown = wrap_text(" " * MARGIN + words.clean(value), screen.width, MARGIN)
        line = Text(f"  {label:<{LABEL_WIDTH}}", style="dim")
        screen.print(line.append(shown[MARGIN:], style="not dim"))


def card_lines(card: Card, now: datetime) -> list[tuple[str, str]]:
    """Label and value of every line; a label is empty where a line belongs to the one above."""
    lines = [
        ("status", _status(card, now)),
        ("reason", card["block_reason"] or words.plain_reason(card["block_reason_code"])),
        ("switch", "" if card["is_active"] else f"paused: `forager domain {card['name']} resume` resumes it"),
        ("pages", _pages(card)),
        ("duplicates", _duplicates(card)),
        ("site", f"known as {card['site_origin']}" if card["site_origin"] else ""),
        ("images", _images(card)),
        ("errors", _errors(card)),
        ("score", _score(card, now)),
        ("pace", _format_delay(card, now)),
        ("breaker", _breaker(card, now)),
        ("budget", _budget(card)),
        ("again", _format_revisit(card, now)),
        ("changes", _changes(card)),
        ("lastmod", _lastmod(card)),
        ("window", _window(card, now)),
        ("workers", f"only those with the label {card['worker_label']}" if card["worker_label"] else ""),
        ("networks", _networks(card)),
        ("certificate", "" if card["verifies_tls"] else "not verified: any certificate is accepted"),
        ("seen", _seen(card, now)),
        *_listed("robots.txt", (_robots(origin, now) for origin in card["origins"])),
        *_listed("sitemaps", _sitemaps(card["origins"])),
        *_listed("visits", (_visits(row) for row in card["outcomes"][:8])),
        *_listed("history", (_move(row, now) for row in card["history"])),
        ("links", "" if card["stores_links"] else "learned and counted, not stored"),
        ("keeps", f"content policy {card['content_policy'] or 'of the settings'}; {_format_retention(card)}"),
    ]
    return [(label, value) for label, value in lines if value]


def _duplicates(card: Card) -> str:
    count = card["duplicate_pages"]
    return f"{words.things(count, 'page')} with the content of another one, which is revisited instead" if count else ""


def move_of(row: Card) -> str:
    """`blocked → pending`, or the state it stayed in."""
    state = row["to_status"] if row["from_status"] == row["to_status"] else f"{row['from_status']} → {row['to_status']}"
    return state if row["is_active"] else f"{state}, paused"


def _status(card: Card, now: datetime) -> str:
    text = str(card["status"])
    if card["is_leased"]:
        text += f", leased by worker {card['claimed_by']}, ends {words.format_relative(card['claim_expires_at'], now)}"
    return text + format_cooldown(card, now)


def format_cooldown(card: Card, now: datetime) -> str:
    """When a domain that stands still goes on by itself."""
    until = card["next_crawl_after"]
    if until and until > now:
        return (
            f", {'visited again' if card['status'] == 'exhausted' else 'resumes'} {words.format_relative(until, now)}"
        )
    return ", until it is reset" if card["status"] == "blocked" and not until else ""


def _pages(card: Card) -> str:
    states = ", ".join(f"{words.count(pages)} {state}" for state, pages in card["page_states"].items())
    return f"{words.count(card['pages_discovered'])} known" + (f": {states}" if states else "")


def _images(card: Card) -> str:
    policy = f"policy {card['images_policy']}" if card["images_policy"] else ""
    only = "its run wants only images of it" if card["images_only"] else ""
    kept = f"files kept {words.duration(card['image_retention_s'])}" if card["image_retention_s"] else ""
    seen = f"{words.count(card['images_found'])} seen on its pages" if card["images_found"] else ""
    stored = f"{words.count(card['images_stored'])} stored" if seen else ""
    per_page = card["image_yield_rate"] if card["images_stored"] else card["avg_images_per_page"]
    rate = f"{per_page:.2f} per page" if seen else ""
    return ", ".join(part for part in (seen, stored, rate, policy, kept, only) if part)


def _seen(card: Card, now: datetime) -> str:
    first, last = (words.format_relative(card[moment], now) for moment in ("first_seen_at", "last_crawled_at"))
    return f"first {first}, last crawled {last}"


def _networks(card: Card) -> str:
    allowed = ", ".join(card["allow_networks"] or ())
    return f"{allowed} may be dialled for it, as --allow-network said" if allowed else ""


def _errors(card: Card) -> str:
    streak = card["consecutive_error_count"]
    kind = f" ({words.plain_reason(card['error_streak_code'])})" if streak and card["error_streak_code"] else ""
    returns = card["blocked_returns"]
    back = f", came back from a block {words.things(returns, 'time')}" if returns else ""
    return f"{words.count(card['total_error_count'])} in all, {streak} in a row{kind}{back}"


def _score(card: Card, now: datetime) -> str:
    """The terms are those of this moment, the score is from when it was computed."""
    terms = [
        f"{LABELS[term['name']]} {'+' if term['points'] > 0 else '−'}{abs(term['points']):,.0f} ({term['explanation']})"
        for term in card["score_explained"]
        if abs(term["points"]) >= 0.5
    ]
    first = {2: "an urgent task is due; ", 1: "boosted, so before others; "}.get(card["urgency"], "")
    at = card["priority_computed_at"]
    score = f"{card['priority_score']:,.0f}, computed {words.format_relative(at, now)}" if at else "not computed yet"
    return first + score + (f"; by now {', '.join(terms)}" if terms else "")


def _format_delay(card: Card, now: datetime) -> str:
    delay = "the default delay" if card["crawl_delay_s"] is None else f"{card['crawl_delay_s']:g} s between requests"
    most = card["max_concurrent_requests"]
    due = card["next_allowed_at"]
    return (
        delay
        + (f", {card['pace_delay_s']:.1f} s now because the server is slow" if card["pace_extra_s"] else "")
        + (f", at most {most} at once" if most else "")
        + (f", next request allowed {words.format_relative(due, now)}" if due and due > now else "")
    )


def _breaker(card: Card, now: datetime) -> str:
    """Nothing while it is closed and no request failed."""
    failures = f"{words.things(card['breaker_failures'], 'failed request')} in a row"
    if card["breaker_state"] == "closed":
        return f"closed, {failures}" if card["breaker_failures"] else ""
    opened = f"opened {words.format_relative(card['breaker_opened_at'], now)} after {failures}"
    return f"{card['breaker_state'].replace('_', '-')}, {opened}"


def _budget(card: Card) -> str:
    most, of_template = card["max_pages_per_run"], card["max_pages_per_template"]
    parts = []
    if most:
        parts.append(f"{words.things(most, 'page')} per run, {words.count(card['run_pages'])} taken")
    if of_template:
        parts.append(f"{words.things(of_template, 'page')} per template")
    return "; ".join(parts)


def _lastmod(card: Card) -> str:
    """How far its sitemaps can be believed when they say that a page changed."""
    from forager.frontier.lastmod import is_trusted

    claims = card["lastmod_claims"]
    if not claims:
        return ""
    doubt = "" if is_trusted(claims, card["lastmod_truths"]) else "; not believed"
    told = f"{words.things(claims, 'change')} that sitemaps announced"
    return f"{words.count(card['lastmod_truths'])} of {told} were true{doubt}"


def _format_revisit(card: Card, now: datetime) -> str:
    """How often its pages are visited, and what is planned."""
    every, refresh = card["revisit_every_s"], card["refresh_every_s"]
    often = f"every {words.duration(every)}" if every else "once"
    if card["is_adaptive"]:
        spend = f", {card['revisits_per_day']:,g} a day" if card["revisits_per_day"] else ""
        often = f"adaptive{spend}, {often} until more is known" if every else f"adaptive{spend}"
    return (
        often
        + _format_revisits(card["revisits"], now)
        + (f", refreshed {words.duration(refresh)} after its end" if refresh else "")
    )


def _format_revisits(revisits: Card, now: datetime) -> str:
    if not revisits["pages"]:
        return ""
    due = revisits["next_at"]
    when = f"next {words.format_relative(due, now)}" if due > now else "due now"
    return f", {words.things(revisits['pages'], 'visit')} planned, {when}"


def _changes(card: Card) -> str:
    found = card["changes"]
    return (
        f"{words.count(found['changes'])} of {words.things(found['comparisons'], 'visit')} found one"
        if found["comparisons"]
        else ""
    )


def _window(card: Card, now: datetime) -> str:
    if card["maintenance_start"] is None:
        return ""
    ends = card["window_ends_at"]
    shut = f", shut now, opens {words.format_relative(ends, now)}" if ends else ""
    return f"no visits from {card['maintenance_start']:%H:%M} to {card['maintenance_end']:%H:%M} UTC{shut}"


def _robots(origin: Card, now: datetime) -> str:
    when = words.format_relative(origin["robots_fetched_at"], now)
    if origin["robots_error"]:
        return f"{origin['origin']} could not be fetched {when}: {origin['robots_error']}"
    length = f", {words.count(origin['robots_length'])} characters" if origin["robots_length"] else ""
    return f"{origin['origin']} answered {origin['robots_status_code']} {when}{length}"


def _sitemaps(origins: Sequence[Card]) -> list[str]:
    """What the robots.txt files name, the first few."""
    found = list(dict.fromkeys(sitemap for origin in origins for sitemap in origin["sitemaps"]))
    more = [f"and {words.count(len(found) - MOST_SITEMAPS)} more"] if len(found) > MOST_SITEMAPS else []
    return found[:MOST_SITEMAPS] + more


def _visits(row: Card) -> str:
    label, _ = label_of(row["outcome"], row["reason"])
    return f"{words.count(row['tasks'])} {label}"


def _move(row: Card, now: datetime) -> str:
    reason = row["reason"] or words.plain_reason(row["reason_code"])
    told = f"{words.format_relative(row['moved_at'], now)}: {move_of(row)}, by {row['moved_by']}"
    return f"{told}: {reason}" if reason else told


def _format_retention(card: Card) -> str:
    kept_s = card["history_retention_s"]
    stay = f"{words.duration(kept_s)} in the database" if kept_s else "in the database as long as the settings say"
    return f"visits stay {stay}"


def _listed(label: str, values: Iterable[str]) -> list[tuple[str, str]]:
    return [(label if index == 0 else "", value) for index, value in enumerate(values)]
