"""C version of this package's inner loop; None where it was not built, and the Python version runs instead. The Python
version carries the documentation. No other module imports `_native`."""

from collections.abc import Callable, Sequence

JoinSimple = Callable[[str, str, int, Sequence[str], Callable[[str], bool]], list[str | None]]

join_simple: JoinSimple | None = None

try:
    from forager.urls import _native
except ImportError:
    IS_THERE = False
else:
    IS_THERE = True
    join_simple = _native.join_simple
