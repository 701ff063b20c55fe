"""Renders pages that are built by scripts: Chromium runs the scripts, and our own client makes every request.

Chromium itself opens no connection: each request of a page is passed to `RequestFilter` and sent through
`fetch.Client`, with its address guard, proxies, cookies and limits. A request that bypasses the filter is sent to a
proxy that does not exist.
"""

from forager.fetch.browser.browser import NO_STEPS, Browser, Limits, open_browser
from forager.fetch.browser.intercept import Get, RequestFilter
from forager.fetch.browser.program import find_chromium, find_missing_dependency

__all__ = [
    "NO_STEPS",
    "Browser",
    "Get",
    "Limits",
    "RequestFilter",
    "find_chromium",
    "find_missing_dependency",
    "open_browser",
]
