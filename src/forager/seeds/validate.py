"""Checks what may be given as a seed."""

from urllib.parse import urlsplit

from forager.config.settings import Settings
from forager.errors import AddressBlockedError, ConfigurationError, UsageError
from forager.politeness.guard import AddressGuard, guard_from_settings, host_as_ip

DEFAULT_PORTS = {"http": 80, "https": 443}


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
    if reason := find_seed_error(url, guard_from_settings(settings)):
        raise UsageError(reason)
    ip = host_as_ip(urlsplit(url).hostname or "")
    if settings.contact is None and not (ip is not None and ip.is_loopback):
        raise ConfigurationError(
            f"Crawling {urlsplit(url).netloc} needs a contact that site owners can write to: "
            "set FORAGER_CONTACT or `contact` in forager.toml."
        )
