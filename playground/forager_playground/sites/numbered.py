"""Paths of sites whose pages are just numbers: `/` is 0, `/p/17` is 17. One spelling per page, so no duplicates."""


def path_of(page: int) -> str:
    return f"/p/{page}" if page else "/"


def find_number(path: str, size: int) -> int | None:
    """The page's number, or None when there is no such page."""
    if path == "/":
        return 0
    return read_number(path[3:], size) if path.startswith("/p/") else None


def read_number(text: str, below: int) -> int | None:
    """A number from 1 written in its only right way (no sign, no leading zero)."""
    if not text.isascii() or not text.isdigit() or text.startswith("0") or len(text) > 12:
        return None
    return int(text) if int(text) < below else None
