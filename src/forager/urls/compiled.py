"""The inner loop of this room that is there in C, or None: it is described where its Python twin is, which is taken
then. Nobody else imports `_native`."""

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
