"""JSON responses: database rows are serialized once, without validation."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from datetime import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import asyncpg
import orjson
from fastapi import Response
from pydantic import BaseModel
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS


def reply(content: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(as_json(content), status, dict(headers or {}), "application/json")


def as_json(content: object) -> bytes:
    return orjson.dumps(content, default=_plain, option=OPTIONS)


def listed(rows: Sequence[Any], model: type[BaseModel] | None = None) -> Response:
    """Returns a list that is always short; long ones are paginated. `model` drops columns that are not its fields."""
    if model is not None:
        rows = [{name: row[name] for name in model.model_fields} for row in rows]
    return reply({"items": rows})


class Stream(StreamingResponse):
    """Streams chunks as they arrive. However the stream ends (the client disconnects, wants only the headers, or takes
    longer than `within_s`), `on_end` runs immediately: its resources must not wait for a later cleanup."""

    def __init__(
        self,
        pieces: AsyncIterator[bytes],
        media_type: str,
        headers: Mapping[str, str],
        on_end: Callable[[], Awaitable[None]],
        within_s: float | None = None,
    ) -> None:
        super().__init__(pieces, 200, headers, media_type)
        self._on_end = on_end
        self._within_s = within_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            async with asyncio.timeout(self._within_s):
                await super().__call__(scope, receive, send)
        finally:
            await self._on_end()


def _plain(value: object) -> object:
    match value:
        case asyncpg.Record():
            return dict(value)
        case Decimal():
            return float(value)
        case bytes():
            return value.hex()
        case frozenset() | set():
            return sorted(value)
        case Mapping():
            return dict(value)
        case time() | Path():
            return str(value)
        case _ if is_dataclass(value) and not isinstance(value, type):
            return asdict(value)
        case _:
            return str(value)
