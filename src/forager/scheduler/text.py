"""How jobs phrase their results."""


def things(number: int, one: str, many: str | None = None) -> str:
    """`1 page`, `1,204 pages`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
