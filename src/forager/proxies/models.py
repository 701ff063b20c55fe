"""A proxy, and the result of one request through it. Passed from the claim to the request and back to the recorder."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy that an operator added. Its password is never printed."""

    id: int
    protocol: str
    """`http`, `https` (TLS to the proxy) or `socks5`."""
    host: str
    port: int
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    is_forwarding: bool = False
    """Plain http requests are sent to it as a whole, without a tunnel: it resolves the name itself."""

    @property
    def name(self) -> str:
        """Returns the name for display and logs."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"proxy {self.id} ({self.protocol}://{host}:{self.port})"


class ProxyResult(StrEnum):
    """Result of a request that was sent through a proxy."""

    THROUGH = "through"
    """The site responded, whatever the response: the proxy works, and works for this site."""
    NOT_THROUGH = "not_through"
    """The proxy worked and the site did not respond: this concerns the pair of both."""
    BROKEN = "broken"
    """The proxy itself failed."""


class ProxyUse(NamedTuple):
    """One request through one proxy, for its health."""

    domain_id: int
    proxy_id: int
    at: datetime
    passage: ProxyResult
    response_time_ms: int | None = None
    error: str | None = None
    is_default: bool = False
    """Through the default pool: the pair of proxy and domain may be new."""
