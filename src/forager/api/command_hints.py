"""Adds HTTP requests to error messages. The services write messages for the terminal, so they name commands; an HTTP
client also gets the request that does the same, after the command. Pure.
"""

import re

COMMAND = re.compile(r"`forager ([^`]+)`")
REQUESTS = (
    ("alerts rules", "GET /api/alerts/rules"),
    ("alerts targets", "GET /api/alerts/targets"),
    ("alerts", "GET /api/alerts"),
    ("archive list", "GET /api/storage/cold"),
    ("body * *", "GET /api/tasks/{task}/body"),
    ("captures *", "GET /api/captures"),
    ("check", "GET /api/check"),
    ("backups", "GET /api/storage/backups"),
    ("batches", "GET /api/batches"),
    ("domain * set --keep snapshot", 'PATCH /api/admin/domains/{domain} with {"content": "snapshot"}'),
    ("domain * set --login-url", "PATCH /api/admin/domains/{domain}"),
    ("domain * traps", "GET /api/domains/{domain}/traps"),
    ("domain * block --reason *", "POST /api/admin/domains/{domain}/block"),
    ("domains allow *", "DELETE /api/admin/denied-domains/{domain}"),
    ("domains denied", "GET /api/denied-domains"),
    ("domain * sitemaps", "GET /api/domains/{domain}/sitemaps"),
    ("domains", "GET /api/domains"),
    ("errors", "GET /api/errors"),
    ("images", "GET /api/images"),
    ("pages", "GET /api/pages"),
    ("products", "GET /api/products"),
    ("profiles leave * *", "PUT /api/admin/profiles/{name}"),
    ("proxies unassign *", "DELETE /api/admin/domains/{domain}/proxies/{proxy}"),
    ("proxies", "GET /api/proxies"),
    ("purge domain", "DELETE /api/admin/domains/{domain}"),
    ("queue dead", "GET /api/queues/dead"),
    ("queue", "GET /api/queues"),
    ("records", "GET /api/records"),
    ("extractors", "GET /api/extractors"),
    ("recover", "POST /api/frontier/recover"),
    ("runs", "GET /api/runs"),
    ("schedule run --once vacuum", "POST /api/admin/schedule/{job}/run"),
    ("tasks restart *", "POST /api/admin/tasks/{task}/restart"),
    ("tasks", "GET /api/tasks"),
    ("token list", "GET /api/tokens"),
    ("user enable *", 'PATCH /api/admin/users/{user} with {"is_active": true}'),
    ("user invite", "POST /api/admin/users"),
    ("user list", "GET /api/admin/users"),
    ("user reset-password", "POST /api/admin/users/{user}/reset-password"),
    ("workers", "GET /api/workers"),
)
"""Command prefix (`*`: any word) → equivalent request. The first match applies: longer before shorter ones."""
PATTERNS = [
    (re.compile(re.escape(command).replace(r"\*", r"\S+") + r"(?=\s|$)"), request) for command, request in REQUESTS
]


def add_http_requests(sentence: str) -> str:
    """Adds the equivalent request after each command; one without an equivalent, such as `forager crawl`, stays."""
    return COMMAND.sub(_with_request, sentence)


def _with_request(found: re.Match[str]) -> str:
    for pattern, request in PATTERNS:
        if pattern.match(found[1]):
            return f"{found[0]} (over HTTP: {request})"
    return found[0]
