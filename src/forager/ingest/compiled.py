"""The inner loop of this room that is there in C, or None: it is described where its Python twin is, which is taken
then. Nobody else imports `_native`."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from forager.records import Discovery

Gather = Callable[
    [Sequence[tuple[Any, ...]], Sequence[str], Sequence[str], bytes, int], tuple[list[Discovery], dict[str, int]]
]

gather: Gather | None = None

try:
    from forager.ingest import _native
except ImportError:
    IS_THERE = False
else:
    IS_THERE = True
    gather = partial(_native.gather, Discovery)
