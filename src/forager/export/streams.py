"""Types of row streams that are written to a file."""

from collections.abc import AsyncIterator, Callable
from typing import Any

OnRows = Callable[[int], None]
Rows = AsyncIterator[dict[str, Any]]
