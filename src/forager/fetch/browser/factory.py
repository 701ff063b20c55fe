"""Builds the browser's limits from Settings."""

from forager.config.settings import Settings
from forager.fetch.browser.browser import Limits
from forager.fetch.browser.intercept import PageBudget


def browser_limits(settings: Settings) -> Limits:
    return Limits(
        pages=settings.browser.max_pages,
        timeout_s=settings.browser.timeout,
        most_html=settings.fetch.max_page_size,
        memory_bytes=settings.browser.max_memory,
        allowance=PageBudget(settings.browser.max_requests, settings.browser.max_download),
        sandbox=settings.browser.sandbox,
    )
