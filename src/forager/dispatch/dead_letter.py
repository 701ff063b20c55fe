"""A dead letter as the operator sees it: which queue rejected it, and why. It can be displayed whatever its sender
put into it."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from forager.dispatch.celery_app import CRAWL_TASK, PARSE_TASK
from forager.dispatch.message import InvalidMessageError, read_hint
from forager.dispatch.names import Names

LONGEST = 500
"""Maximum number of characters of a message that are shown."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    id: str
    """Derived from the content: identical content has the same id."""
    queue: str | None
    """The queue that rejected it; None: it is not recorded, or is no queue of ours."""
    why: str
    body: str


def read_letter(message: Any, names: Names) -> DeadLetter:
    body = message.body.encode("utf-8", "replace") if isinstance(message.body, str) else bytes(message.body)
    kind = repr((message.content_type, (message.headers or {}).get("task")))
    name = hashlib.sha256(kind.encode("utf-8", "replace") + body).hexdigest()
    why = (
        _find_reason(message, body)[:LONGEST].encode("utf-8", "replace").decode()
    )  # an unpaired surrogate cannot be encoded
    return DeadLetter(name[:12], _source_queue(message, names), why, body[:LONGEST].decode("utf-8", "replace"))


def _source_queue(message: Any, names: Names) -> str | None:
    """Returns our queue that rejected it last. Any sender can set a header that looks like RabbitMQ's own."""
    deaths = (message.headers or {}).get("x-death")
    queues = [death.get("queue") for death in deaths if isinstance(death, dict)] if isinstance(deaths, list) else []
    return next((queue for queue in queues if names.are_hints(queue)), None)


def _find_reason(message: Any, body: bytes) -> str:
    if message.content_type != "application/json":
        return f"it is {message.content_type or 'of no type'}, and only JSON is read"
    if (message.headers or {}).get("task") not in (CRAWL_TASK, PARSE_TASK):  # a set would require a hashable value
        return "it names no task of Forager"
    try:
        read_hint(json.loads(body)[0][0])
    except InvalidMessageError as error:
        return str(error)
    except (ValueError, LookupError, TypeError, RecursionError):
        return "it cannot be read"
    return "it was refused"
