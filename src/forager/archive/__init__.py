"""Keep: bodies of pages, as far as a domain's content policy asks for them."""

from forager.archive.policy import ContentPolicy, keep

__all__ = ["ContentPolicy", "keep"]
