"""What `_native.c` has; the function is described where its Python twin is."""

from collections.abc import Callable, Sequence

def join_simple(
    origin: str, directory: str, room: int, hrefs: Sequence[str], is_canonical: Callable[[str], bool], /
) -> list[str | None]: ...
