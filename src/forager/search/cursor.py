"""Cursors of result pages, by score and then by id, and the estimate of the total number of hits. Pure."""

from datetime import UTC, datetime

EVER = datetime(1, 1, 1, tzinfo=UTC)
"""Before any stored time."""
NEVER = datetime(9999, 12, 31, tzinfo=UTC)
"""After any stored time."""


def write_cursor(score: int, number: int) -> str:
    return f"{score}-{number}"


def read_cursor(text: str | None) -> tuple[int, int] | None:
    """Parses a cursor; later positions compare larger. Returns None, the first page, for an invalid cursor."""
    score, dash, number = (text or "").partition("-")
    is_cursor = dash and all(part.isascii() and part.isdigit() and len(part) < 20 for part in (score, number))
    return (-int(score), int(number)) if is_cursor else None


def estimate_total(guess: int, hits: int, looked_at: int) -> int:
    """Estimates the number of hits from `guess` candidates, of which `looked_at` were checked and `hits` matched."""
    return max(hits, round(guess * hits / max(looked_at, 1)))
