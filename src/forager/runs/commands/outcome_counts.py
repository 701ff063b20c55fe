"""Outcomes as people count them: ok, redirect, 404, robots, timeout. Pure; shared by the display and the summary."""

from collections.abc import Iterable
from dataclasses import dataclass

from forager.frontier.outcome_kind import LOGIN_WALL, OutcomeKind
from forager.runs.models import IMAGE, SITEMAP, OutcomeCount

GOOD, NEUTRAL, REFUSED, BAD = "green", "cyan", "yellow", "red"
ORDER = {GOOD: 0, NEUTRAL: 1, REFUSED: 2, BAD: 3}


@dataclass(frozen=True, slots=True)
class LabelCount:
    """One word and how many pages ended so."""

    label: str
    pages: int
    colour: str


def count_by_label(outcomes: Iterable[OutcomeCount]) -> list[LabelCount]:
    """Grouped by label; the good ones first, then by number. Sitemaps and feeds have a line of their own elsewhere."""
    groups: dict[tuple[str, str], int] = {}
    for row in outcomes:
        if row.reason.startswith(SITEMAP):
            continue
        key = label_of(row.outcome, row.reason)
        groups[key] = groups.get(key, 0) + row.pages
    found = [LabelCount(label, pages, colour) for (label, colour), pages in groups.items()]
    return sorted(found, key=lambda group: (ORDER[group.colour], -group.pages, group.label))


def label_of(outcome: str, reason: str) -> tuple[str, str]:
    """What a person calls this ending, and its colour."""
    if reason.startswith(IMAGE):
        return ("images", GOOD) if outcome == OutcomeKind.SUCCESS else ("images failed", REFUSED)
    match outcome:
        case OutcomeKind.SUCCESS:
            return _success(reason)
        case OutcomeKind.BLOCKED_ROBOTS:
            return "robots", REFUSED
        case OutcomeKind.BLOCKED_4XX:
            return reason, REFUSED
        case OutcomeKind.CANCELLED:
            return "cancelled", NEUTRAL
        case OutcomeKind.TIMEOUT:
            return "timeout", BAD
        case _:
            return reason.replace("_", " "), BAD


def _success(reason: str) -> tuple[str, str]:
    if reason == LOGIN_WALL:
        return "login forms in place of pages", REFUSED
    if reason == "304":
        return "unchanged", NEUTRAL
    return ("redirect", NEUTRAL) if reason.startswith("3") else ("ok", GOOD)
