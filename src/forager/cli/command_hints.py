"""Commands that messages advise. Pure; a test runs each of them in the state in which it is advised."""

import shlex

EXPORT = "forager export pages --format jsonl -o pages.jsonl"

DOMAINS = "forager domains"


def refresh(name: str | None, *, now: bool = False) -> str:
    """Visits again what is due of a domain, or of all; `now`: also what is not due yet."""
    return _join("forager", "refresh", name, "--now" if now else None)


def reset(name: str) -> str:
    """Forgets what held a domain back."""
    return _join("forager", "domain", name, "reset")


def crawl(url: str, *flags: str) -> str:
    return _join("forager", "crawl", url, *flags)


def why(name: str) -> str:
    """Says what holds a domain back."""
    return _join("forager", "why", name)


def fetch(url: str) -> str:
    """Asks for one page and shows what Forager reads from it."""
    return _join("forager", "fetch", url)


def rendered(name: str) -> str:
    """Visits a domain again, with a browser where pages are empty without one."""
    return _join("forager", "refresh", name, "--now", "--rendering", "auto")


def sitemap(url: str) -> str:
    """Adds the pages that a sitemap names; a crawl then visits them."""
    return _join("forager", "seed", "--sitemap", url)


def domain(name: str) -> str:
    return _join("forager", "domain", name)


def pages(name: str) -> str:
    return _join("forager", "pages", "--domain", name)


def _join(*parts: str | None) -> str:
    return shlex.join(part for part in parts if part is not None)
