"""Where one page of hits ends and the next begins: by score, then by number; and how many there may be in all. Pure."""

from datetime import UTC, datetime

EVER = datetime(1, 1, 1, tzinfo=UTC)
"""Before everything."""


def write_cursor(score: int, number: int) -> str:
    return f"{score}-{number}"


def read_cursor(text: str | None) -> tuple[int, int] | None:
    """What comes later is larger; what is no cursor begins at the beginning."""
    score, dash, number = (text or "").partition("-")
    is_cursor = dash and all(part.isascii() and part.isdigit() and len(part) < 20 for part in (score, number))
    return (-int(score), int(number)) if is_cursor else None


def estimate_total(guess: int, hits: int, looked_at: int) -> int:
    """How many hits there are, where `guess` candidates may be and of those that were looked at so many are hits."""
    return max(hits, round(guess * hits / max(looked_at, 1)))
