"""Keep: bodies of pages, as far as a domain's content policy asks for them."""

from forager.storage.body_store import Shelf, Shelved, open_shelf
from forager.storage.policy import ContentPolicy

__all__ = ["ContentPolicy", "Shelf", "Shelved", "open_shelf"]
