"""Formats connection URLs for display: the location of a database, never its password."""

from urllib.parse import parse_qs, unquote, urlsplit

UNCLEAR = "the configured address"


def place_of(dsn: str) -> str:
    """Returns the location in a URL, such as `127.0.0.1:5432/test`. Hides a URL whose password may have leaked into
    host or path."""
    try:
        parts = urlsplit(dsn)
        query = parse_qs(parts.query)
    except ValueError:
        return UNCLEAR
    if "@" in parts.path + parts.query + parts.fragment:  # an unescaped / ? or # in the password ends the host early
        return UNCLEAR
    hosts = parts.netloc.rpartition("@")[2] or ",".join(query.get("host", [])) or "localhost"
    name = unquote(parts.path.removeprefix("/")) or query.get("dbname", [""])[0]
    return f"{_with_port(unquote(hosts), query)}/{name}".rstrip("/")


def _with_port(hosts: str, query: dict[str, list[str]]) -> str:
    if hosts.startswith("/"):
        return hosts
    port = query.get("port", ["5432"])[0]
    return ",".join(host if _has_port(host) else f"{host}:{port}" for host in hosts.split(","))


def _has_port(host: str) -> bool:
    return ":" in host.rpartition("]")[2]
