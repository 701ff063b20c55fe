"""What `_native.c` has; the functions are described where their Python twins are."""

from collections.abc import Callable, Sequence
from typing import Any

from forager.links.models import Discovery

def gather(
    type_: type[Discovery],
    places: Sequence[tuple[Any, ...]],
    anchors: Sequence[str],
    rels: Sequence[str],
    own_key: bytes,
    depth: int,
    /,
) -> tuple[list[Discovery], dict[str, int]]: ...
def recall(
    hrefs: Sequence[str],
    known: dict[str, Any],
    outside: dict[str, bool],
    ask: Callable[[str], bool],
    foreign: Any,
    /,
) -> list[Any]: ...
