"""Pages that scripts write: Chromium runs them, and our own client makes every request.

Chromium itself opens no connection: each request of a page comes to the `Gate`, and goes out through `fetch.Client`,
with its guard, its proxies, its cookies and its limits. What does not come to the gate finds a proxy that is not there.
"""

from forager.fetch.browser.browser import Browser, Limits, open_browser
from forager.fetch.browser.intercept import RequestFilter
from forager.fetch.browser.program import find_chromium, find_missing_dependency

__all__ = ["Browser", "Limits", "RequestFilter", "find_chromium", "find_missing_dependency", "open_browser"]
