"""Asks a model behind an OpenAI-compatible address: one guarded POST, with a time limit and a size limit.

What went wrong is either the address's (`ModelAwayError`: everything waits) or this page's alone (DecodeError).
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import orjson

from forager import clock
from forager.config.settings import Settings
from forager.errors import ConfigurationError, DecodeError, ForagerError, VisitError
from forager.fetch.client import Client, open_client
from forager.fetch.connection import ResponseTimeouts
from forager.fetch.decode import decode, decode_beginning
from forager.fetch.models import Fetched
from forager.fetch.retry_after import parse_retry_after
from forager.masking import MASK
from forager.parsing.extractors.by_model import ModelExtractor
from forager.politeness.guard import AddressGuard
from forager.records.model_prompt import build_request, parse_content

PATH = "/chat/completions"
MOST_BYTES = 1024 * 1024
"""Of a reply; what is longer is rejected."""
CONNECT_TIMEOUT_S = 10.0
LONGEST_TOLD, MOST_TOLD_BYTES = 200, 4096
PAGES_FAULT = frozenset({400, 413, 422})
"""The request was not understood or is too large: another page may do."""
MOST_TOKENS = 2**31 - 1


class ModelAwayError(ForagerError):
    """The model cannot be asked now. `retry_after_s` is what its server asked for."""

    def __init__(self, sentence: str, retry_after_s: float | None = None) -> None:
        super().__init__(sentence)
        self.retry_after_s = retry_after_s


class ModelAnswer(NamedTuple):
    """The records that the model wrote, unchecked, and what they cost."""

    records: list[dict[str, Any]]
    prompt_tokens: int
    completion_tokens: int
    took_ms: int


@dataclass(frozen=True, slots=True)
class Model:
    """An open way to the model."""

    client: Client
    url: str
    name: str
    api_key: str | None

    async def ask(self, extractor: ModelExtractor, text: str) -> ModelAnswer:
        """Returns what the model says of a text. Raises ModelAwayError, or DecodeError for a reply that is none."""
        headers = {"Content-Type": "application/json"}
        if self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key}"
        body = build_request(extractor, self.name, text)
        try:
            reply = await self.client.post(
                self.url, body, headers=headers, cut_at=MOST_BYTES, read_error=lambda _status: True
            )
        except VisitError as error:
            told = self._mask(str(error)).replace("fetch.allow_networks to crawl it", "model.allow_networks")
            raise ModelAwayError(f"The model at {self._where} cannot be asked: {told}") from None
        return self._read(reply)

    @property
    def _where(self) -> str:
        return urlsplit(self.url).netloc.rpartition("@")[2]

    def _read(self, reply: Fetched) -> ModelAnswer:
        status = reply.status_code
        content_encoding = reply.headers.get("content-encoding", "")
        if status in PAGES_FAULT:
            raise DecodeError(f"the model rejected the request with {status}: {self._told(reply)}")
        if not 200 <= status < 300:
            after = reply.headers.get("retry-after")
            raise ModelAwayError(
                f"The model at {self._where} answered {status}: {self._told(reply)}",
                parse_retry_after(after, clock.now()) if after else None,
            )
        body, _ = decode(reply.body, content_encoding, MOST_BYTES, may_cut=True)
        if max(len(body), len(reply.body)) >= MOST_BYTES:
            raise DecodeError(f"the reply of the model is larger than {MOST_BYTES // 1024} KB")
        content, usage = _unwrap(body)
        tokens = [_count(usage.get(name)) for name in ("prompt_tokens", "completion_tokens")]
        return ModelAnswer(parse_content(content), tokens[0], tokens[1], reply.response_time_ms)

    def _told(self, reply: Fetched) -> str:
        """Returns what the server said, on one line and without our key."""
        body = decode_beginning(reply.body, reply.headers.get("content-encoding", ""), MOST_TOLD_BYTES)
        text = self._mask(body[:MOST_TOLD_BYTES].decode("utf-8", "replace"))
        return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:LONGEST_TOLD] or "(nothing)"

    def _mask(self, text: str) -> str:
        return text.replace(self.api_key, MASK) if self.api_key else text


def _unwrap(body: bytes) -> tuple[str, dict[str, Any]]:
    """Returns the text of the first choice, and the usage."""
    try:
        reply = orjson.loads(body)
        choice = reply["choices"][0]
        content, reason = choice["message"]["content"], choice.get("finish_reason")
        usage = reply.get("usage")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        raise DecodeError("the server's reply is no chat completion") from None
    if reason == "length":
        raise DecodeError("the reply of the model was cut off by its limit of tokens")
    if not isinstance(content, str):
        raise DecodeError("the model wrote nothing, or refused")
    return content, usage if isinstance(usage, dict) else {}


def _count(value: object) -> int:
    return min(max(value, 0), MOST_TOKENS) if isinstance(value, int) else 0


def is_configured(settings: Settings) -> bool:
    return settings.model.url is not None


@asynccontextmanager
async def open_model(settings: Settings) -> AsyncIterator[Model]:
    """Yields the model of the settings; raises ConfigurationError if there is none. Uses no proxy, no cookies, and
    follows no redirects."""
    model = settings.model
    if model.url is None or model.name is None:
        raise ConfigurationError(
            "No model is set: set model.url to an OpenAI-compatible address, such as http://127.0.0.1:11434/v1, and "
            "model.name to the name of a model there."
        )
    parts = urlsplit(model.url)
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        raise ConfigurationError("The port in model.url is no number.") from None
    guard = AddressGuard(model.allow_networks, (port,))
    async with open_client(
        user_agent=settings.agent_header,
        check_address=guard.check_ip,
        timeout_s=model.timeout,
        connect_timeout_s=min(CONNECT_TIMEOUT_S, model.timeout),
        max_bytes=MOST_BYTES,
        # A model thinks before its first byte, and may send the rest word by word.
        patience=ResponseTimeouts(model.timeout, model.timeout, 0.0),
        keeps_cookies=False,
    ) as client:
        yield Model(client, model.url.rstrip("/") + PATH, model.name, model.api_key)
