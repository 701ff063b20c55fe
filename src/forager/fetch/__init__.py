"""Get: one request, one answer or one typed error. No other room opens HTTP connections to the outside."""

from forager.fetch.client import Client, is_page, open_client
from forager.fetch.retry_after import parse_retry_after

__all__ = ["Client", "is_page", "open_client", "parse_retry_after"]
