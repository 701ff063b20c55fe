"""Pages that scripts write: Chromium runs them, and our own client makes every request.

Chromium itself opens no connection: each request of a page comes to the `Gate`, and goes out through `fetch.Client`,
with its guard, its proxies, its cookies and its limits. What does not come to the gate finds a proxy that is not there.
"""

from forager.fetch.browser.browser import Browser, Limits, open_browser
from forager.fetch.browser.intercept import Gate
from forager.fetch.browser.program import find_chromium, why_no_browser

__all__ = ["Browser", "Gate", "Limits", "find_chromium", "open_browser", "why_no_browser"]
