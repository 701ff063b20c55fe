"""Twins: URLs that differ only in http or https, and with or without `www.`. Most sites serve the same pages under
several of them. Pure."""

from forager.urls.domain import is_address

SCHEMES = ("https", "http")


def split_origin(url: str) -> tuple[str, str]:
    """Returns the origin and the rest of a normalised URL."""
    end = url.index("/", 8)
    return url[:end], url[end:]


def twin_origins(origin: str) -> tuple[str, ...]:
    """Returns all origins of which a site may serve the same pages, in order of preference: https first, and the given
    host first. A port of its own is another server, so it has no twin."""
    host = origin.partition("://")[2]
    if ":" in host or is_address(host):
        return (origin,) if ":" in host else tuple(f"{scheme}://{host}" for scheme in SCHEMES)
    bare = host.removeprefix("www.")
    hosts = (host, f"www.{host}" if host == bare else bare) if "." in bare else (host,)
    return tuple(f"{scheme}://{name}" for scheme in SCHEMES for name in hosts)


def under_origin(url: str, origin: str | None) -> str:
    """Returns the URL under the origin of its site, if its own is a twin of that; else unchanged."""
    if origin is None:
        return url
    own, rest = split_origin(url)
    return origin + rest if own != origin and own in twin_origins(origin) else url


def are_twins(one: str, other: str) -> bool:
    """Whether two URLs differ only in an origin of the same site."""
    (first, path), (second, same_path) = split_origin(one), split_origin(other)
    return first != second and path == same_path and second in twin_origins(first)
