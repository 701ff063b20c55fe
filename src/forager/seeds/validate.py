"""Validates seeds."""

from urllib.parse import urlsplit

from forager.config.settings import Settings
from forager.errors import AddressBlockedError, ConfigurationError, UsageError
from forager.politeness.guard import AddressGuard, guard_from_settings, host_as_ip

DEFAULT_PORTS = {"http": 80, "https": 443}


def find_seed_error(url: str, guard: AddressGuard) -> str | None:
    """Returns why a seed is rejected, or None. Checks literal IP addresses before storing; host names are checked on
    connect."""
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
    """Checks a seed of a run: its address may be connected to, and a contact for site owners is configured."""
    if reason := find_seed_error(url, guard_from_settings(settings)):
        raise UsageError(reason)
    ip = host_as_ip(urlsplit(url).hostname or "")
    if settings.contact is None and not (ip is not None and ip.is_loopback):
        raise ConfigurationError(
            f"Crawling {urlsplit(url).netloc} needs a contact that site owners can write to: "
            "set FORAGER_CONTACT or `contact` in forager.toml."
        )
