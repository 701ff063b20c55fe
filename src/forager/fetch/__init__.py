"""Get: one request, one answer or one typed error. No other room opens HTTP connections to the outside."""

from forager.fetch.client import Client, is_page, open_client
from forager.fetch.retry_after import parse_retry_after
from forager.fetch.wire import Patience

__all__ = ["Client", "Patience", "is_page", "open_client", "parse_retry_after"]
