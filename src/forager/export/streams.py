"""Types of rows on their way into a file."""

from collections.abc import AsyncIterator, Callable
from typing import Any

OnRows = Callable[[int], None]
Rows = AsyncIterator[dict[str, Any]]
