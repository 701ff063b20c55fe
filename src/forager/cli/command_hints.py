"""Commands that messages suggest. Pure; a test runs each of them in the state in which it is suggested."""

import shlex

EXPORT = "forager export pages --format jsonl -o pages.jsonl"

DOMAINS = "forager domains"


def refresh(name: str | None, *, now: bool = False) -> str:
    """Revisits what is due of a domain, or of all; `now`: also what is not due yet."""
    return _join("forager", "refresh", name, "--now" if now else None)


def reset(name: str) -> str:
    """Resets what blocks a domain."""
    return _join("forager", "domain", name, "reset")


def crawl(url: str, *flags: str) -> str:
    return _join("forager", "crawl", url, *flags)


def why(name: str) -> str:
    """Explains what blocks a domain."""
    return _join("forager", "why", name)


def fetch(url: str) -> str:
    """Fetches one page and shows what Forager reads from it."""
    return _join("forager", "fetch", url)


def rendered(name: str) -> str:
    """Revisits a domain, with a browser where pages are empty without one."""
    return _join("forager", "refresh", name, "--now", "--rendering", "auto")


def sitemap(url: str) -> str:
    """Adds the pages that a sitemap names; a crawl then visits them."""
    return _join("forager", "seed", "--sitemap", url)


def settings(name: str) -> str:
    """Lists the flags of all crawl settings."""
    return _join("forager", "domain", name, "set", "--help")


def resume_source(source: str) -> str:
    """Resumes the paused domains that came with one source of seeds."""
    return _join("forager", "domains", "resume", "--source", source)


def login(name: str, url: str) -> str:
    """Tells where a domain's login form is; its fields are given with --login-fields."""
    return _join("forager", "domain", name, "set", "--login-url", url)


def domain_settings(name: str) -> str:
    """Lists the crawl settings of a domain."""
    return _join("forager", "domain", name, "settings")


def override_robots(name: str) -> str:
    """Crawls a site of one's own although its robots.txt forbids it."""
    return _join("forager", "domain", name, "set", "--no-obey-robots", "--reason", "my own site")


def domain(name: str) -> str:
    return _join("forager", "domain", name)


def pages(name: str) -> str:
    return _join("forager", "pages", "--domain", name)


def _join(*parts: str | None) -> str:
    return shlex.join(part for part in parts if part is not None)
