"""Serves the dashboard: its files, and its index page for every other path outside the API."""

from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from forager.dashboard import INDEX, File

OURS = ("/api/", "/v1/", "/v2/", "/health", "/metrics")
ICON = "/icon.svg"
"""Also served at `/favicon.ico`, which browsers request whatever the page says."""
NOT_PAGES = ("/assets/",)
"""A missing file here is not replaced by the index page: HTML in place of a script would cause confusing errors."""


class Site:
    def __init__(self, app: ASGIApp, *, files: Mapping[str, File]) -> None:
        self._app = app
        self._files = files
        self._first = files[INDEX] if len(files) > 1 else None
        """None if the dashboard is not built; the only page then says so."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        file = self._find(scope) if scope["type"] == "http" else None
        if file is None:
            return await self._app(scope, receive, send)
        asked = Headers(scope=scope)
        headers, body, status = dict(file.headers), file.body, 200
        if asked.get("if-none-match") == headers["etag"]:
            body, status = b"", 304
        elif file.packed is not None:
            headers["vary"] = "accept-encoding"
            if "gzip" in asked.get("accept-encoding", ""):
                headers["content-encoding"], body = "gzip", file.packed
        if status != 304:
            headers["content-length"] = str(len(body))
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": status, "headers": raw})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
        return None

    def _find(self, scope: Scope) -> File | None:
        path: str = scope["path"]
        if scope["method"] not in {"GET", "HEAD"} or path == "/api" or path.startswith(OURS):
            return None
        found = self._files.get(ICON if path == "/favicon.ico" else path)
        if path == "/favicon.ico":
            return found
        return self._first if found is None and not path.startswith(NOT_PAGES) else found
