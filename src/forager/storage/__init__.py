"""Keep: bodies of pages, as far as a domain's content policy asks for them."""

from forager.storage.policy import ContentPolicy
from forager.storage.shelf import Shelf, Shelved, open_shelf

__all__ = ["ContentPolicy", "Shelf", "Shelved", "open_shelf"]
