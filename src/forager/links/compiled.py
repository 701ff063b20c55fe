"""C versions of this package's inner loops; None where they were not built, and the Python versions run instead. The
Python versions carry the documentation. No other module imports `_native`."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from forager.links.models import Discovery

Gather = Callable[
    [Sequence[tuple[Any, ...]], Sequence[str], Sequence[str], bytes, int], tuple[list[Discovery], dict[str, int]]
]

Recall = Callable[[Sequence[str], dict[str, Any], dict[str, bool], Callable[[str], bool], Any], list[Any]]

gather: Gather | None = None
recall: Recall | None = None

try:
    from forager.links import _native
except ImportError:
    IS_THERE = False
else:
    IS_THERE = True
    gather = partial(_native.gather, Discovery)
    recall = _native.recall
