"""What the crawl settings of a domain mean for its requests: headers, authentication, login, robots.txt name. Pure."""

import re

from forager.config.crawl_settings import CrawlSettings
from forager.errors import BadUrlError
from forager.fetch.access import NO_ACCESS, SiteAccess, build_access
from forager.fetch.login import LoginConfig
from forager.urls.normalize import normalize

PRODUCT = re.compile(r"\s*([A-Za-z_-]+)")
COMPATIBLE = re.compile(r"\bcompatible;\s*([A-Za-z_-]+)")
"""Where crawlers that begin like a browser name themselves: `Mozilla/5.0 (compatible; AcmeBot/1.0)`."""
BROWSERS = frozenset({"mozilla", "opera"})
"""Names that every browser sends: no group of a robots.txt addresses a crawler by them."""


def read_access(settings: CrawlSettings, *, serves_https: bool = False) -> SiteAccess:
    values = (settings.headers, settings.cookies, settings.username, settings.password, settings.token)
    if not (any(values) or settings.user_agent or settings.accept_language or settings.login_url):
        return NO_ACCESS
    return build_access(
        user_agent=settings.user_agent,
        accept_language=settings.accept_language,
        headers=settings.headers,
        cookies=settings.cookies,
        username=settings.username,
        password=settings.password,
        token=settings.token,
        needs_jar=settings.login_url is not None,
        is_tls_only=serves_https or (settings.login_url or "").startswith("https://"),
    )


def read_login(settings: CrawlSettings) -> LoginConfig | None:
    """Returns how a login is made; None: there is none."""
    if settings.login_url is None or not settings.login_fields:
        return None
    try:
        url = normalize(settings.login_url)
    except BadUrlError:
        url = settings.login_url
    return LoginConfig(url, settings.login_fields, settings.login_success)


def read_robots_agent(user_agent: str | None, agent: str) -> str:
    """Returns the name that robots.txt is matched with: the product that the domain's own User-Agent names, or else the
    instance's. A site owner sees the one in the log, and addresses it by the same name."""
    found = COMPATIBLE.search(user_agent or "") or PRODUCT.match(user_agent or "")
    return agent if found is None or found[1].lower() in BROWSERS else found[1]
