"""Two modules open connections to the outside and resolve names; any other would bypass the address guard."""

import re
from pathlib import Path

PACKAGE = Path(__file__).parents[3] / "src/forager"
ALLOWED = {"fetch/connect.py", "fetch/dns.py"}
EXEMPT = (
    "db/",
    "dispatch/broker.py",
    "playground/",
    "runtime/server.py",
    "runtime/commands/up.py",
    "backup/commands/drill.py",
    "engine/parser_server.py",
)
"""PostgreSQL's own connections and RabbitMQ's, those that listen and dial nobody (a web on loopback, the API),
`forager up` and the restore drill, which ask their own API on loopback, and the parser server, which gets its
sockets."""
OPENS = re.compile(
    r"create_connection|open_connection|open_unix_connection|sock_connect|\.connect\(|\.connect_ex\("
    r"|socket\.socket\(|getaddrinfo|gethostby|create_datagram_endpoint"
    r"|^\s*(?:import|from) (?:urllib\.request|http\.client|urllib3|requests|httpx|aiohttp|ftplib|smtplib|websocket)\b",
    re.MULTILINE,
)


def test_nothing_else_opens_connections() -> None:
    found = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if not str(path.relative_to(PACKAGE)).startswith(EXEMPT) and OPENS.search(path.read_text(encoding="utf-8"))
    }
    assert found == ALLOWED
