"""Keep: bodies of pages, as far as a domain's content policy asks for them."""

from forager.storage.body_store import BodyStore, Shelved, open_shelf
from forager.storage.policy import ContentPolicy

__all__ = ["BodyStore", "ContentPolicy", "Shelved", "open_shelf"]
