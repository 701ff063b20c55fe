"""The settings that decide about a visit, as `control.why` wants them; and what may be given as a seed."""

from urllib.parse import urlsplit

from forager.config.settings import Settings
from forager.control.domain_checks import FetchPolicy
from forager.errors import AddressBlockedError, ConfigurationError, UsageError
from forager.politeness.guard import AddressGuard, host_as_ip

DEFAULT_PORTS = {"http": 80, "https": 443}


def build_fetch_policy(settings: Settings) -> FetchPolicy:
    return FetchPolicy(
        robots_agent=settings.politeness.robots_agent,
        delay_s=settings.politeness.delay,
        unpaced_hosts=settings.politeness.no_delay_hosts,
        guard=guard_of(settings),
        dead_after_s=settings.worker.dead_after,
        max_domain_errors=settings.failures.block_after,
        max_unreachable=settings.failures.unreachable_after,
        adaptive_pace=settings.politeness.adaptive_delay,
        breaker_failures=settings.failures.breaker_failures,
        breaker_reset_s=settings.failures.breaker_reset,
    )


def guard_of(settings: Settings) -> AddressGuard:
    return AddressGuard(
        settings.fetch.allow_networks, settings.fetch.allow_ports, is_anonymous=settings.contact is None
    )


def find_seed_error(url: str, guard: AddressGuard) -> str | None:
    """An address written as such is judged before anything is stored; a name is judged when it is dialled."""
    parts = urlsplit(url)
    ip = host_as_ip(parts.hostname or "")
    if ip is None:
        return None
    try:
        guard.check_ip(ip, parts.port or DEFAULT_PORTS[parts.scheme])
    except AddressBlockedError as error:
        return str(error)
    return None


def validate_seed(url: str, settings: Settings) -> None:
    """Of a run: its address may be dialled, and its owner knows whom to write to."""
    if reason := find_seed_error(url, guard_of(settings)):
        raise UsageError(reason)
    ip = host_as_ip(urlsplit(url).hostname or "")
    if settings.contact is None and not (ip is not None and ip.is_loopback):
        raise ConfigurationError(
            f"Crawling {urlsplit(url).netloc} needs a contact that site owners can write to: "
            "set FORAGER_CONTACT or `contact` in forager.toml."
        )
