"""The browser's limits, from settings."""

from forager.fetch.browser import Limits
from forager.fetch.browser.intercept import PageBudget
from forager.settings import Settings


def browser_limits(settings: Settings) -> Limits:
    return Limits(
        pages=settings.browser_pages,
        timeout_s=settings.render_timeout_s,
        most_html=settings.max_page_bytes,
        memory_bytes=settings.browser_memory_bytes,
        allowance=PageBudget(settings.render_requests, settings.render_bytes),
        sandbox=settings.browser_sandbox,
    )
