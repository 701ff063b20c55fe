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


def domain(name: str) -> str:
    return _join("forager", "domain", name)


def pages(name: str) -> str:
    return _join("forager", "pages", "--domain", name)


def _join(*parts: str | None) -> str:
    return shlex.join(part for part in parts if part is not None)
