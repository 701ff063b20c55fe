"""What `_native.c` has; the function is described where its Python twin is."""

from collections.abc import Sequence
from typing import Any

from forager.records import Discovery

def gather(
    type_: type[Discovery],
    places: Sequence[tuple[Any, ...]],
    anchors: Sequence[str],
    rels: Sequence[str],
    own_key: bytes,
    depth: int,
    /,
) -> tuple[list[Discovery], dict[str, int]]: ...
