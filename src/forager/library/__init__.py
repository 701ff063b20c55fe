"""The Python library: what `forager.open` returns. A shell like `cli` and `api`: it calls the same functions."""

from forager.library.instance import Instance, open_instance
from forager.library.rows import Rows

__all__ = ["Instance", "Rows", "open_instance"]
