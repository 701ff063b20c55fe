"""Logs: one line per event on standard error, each with an `action` name. Never writes to standard output.

The layer that starts a process chooses the level and the format once. structlog takes a third of a second to load, so
it is loaded when the first line is written.

Each line includes its context automatically: what identifies the process (`everywhere`), and what the current asyncio
task is about (`about`), such as `task` and `domain`.
"""

import logging
import sys
from collections.abc import Mapping, MutableMapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TextIO, cast

from forager.masking import mask_urls


@dataclass(slots=True)
class _Choice:
    level: int = logging.WARNING
    as_json: bool = False
    everywhere: dict[str, Any] = field(default_factory=dict)


_choice = _Choice()
_about: ContextVar[dict[str, Any]] = ContextVar("about", default={})  # noqa: B039 (never changed, only replaced)


def configure(*, level: str = "warning", as_json: bool = False) -> None:
    """Chooses how this process logs: text on a terminal, JSON for programs."""
    _choice.level, _choice.as_json = logging.getLevelNamesMapping()[level.upper()], as_json
    _writer.cache_clear()
    # asyncpg logs every attempt to reach a lost server, with a trace; the code that waits for the server logs one line.
    logging.getLogger("asyncpg").addHandler(logging.NullHandler())


def bind_process_context(**context: Any) -> None:
    """Adds fields, such as `worker=7`, to every later line of this process."""
    _choice.everywhere |= context


def about(**context: Any) -> None:
    """Adds fields to every later line of this asyncio task and of those it starts: `task=4711, domain="a.example"`."""
    _about.set(_about.get() | context)


@dataclass(frozen=True, slots=True)
class Logger:
    """A logger bound to the fields that all lines of the caller share, such as `worker=7`."""

    context: dict[str, Any]

    def debug(self, event: str, **details: Any) -> None:
        self._log(logging.DEBUG, event, details)

    def info(self, event: str, **details: Any) -> None:
        self._log(logging.INFO, event, details)

    def warning(self, event: str, **details: Any) -> None:
        self._log(logging.WARNING, event, details)

    def error(self, event: str, **details: Any) -> None:
        self._log(logging.ERROR, event, details)

    def _log(self, level: int, event: str, details: dict[str, Any]) -> None:
        if level >= _choice.level:
            _writer().log(level, event, **_choice.everywhere | _about.get() | self.context | details)


def log(**context: Any) -> Logger:
    return Logger(context)


def is_debug() -> bool:
    """Returns whether debug lines are written: lets a caller on the page path skip what it would cost to build one."""
    return _choice.level <= logging.DEBUG


class _Stderr:
    """Resolves standard error at each write: code that replaced it temporarily may have closed its own since."""

    def write(self, text: str) -> int:
        return sys.stderr.write(text)

    def flush(self) -> None:
        sys.stderr.flush()


@cache
def _writer() -> Any:
    import structlog

    return structlog.wrap_logger(
        structlog.PrintLogger(file=cast("TextIO", _Stderr())),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _mask,
            *_form(structlog),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_choice.level),
    )


def _mask(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """Masks the password of every URL in a line, and its parameters that are credentials."""
    return {name: mask_urls(value) if isinstance(value, str) else value for name, value in event.items()}


def _form(structlog: Any) -> list[Any]:
    if _choice.as_json:
        return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(ensure_ascii=True)]
    plain = structlog.dev.plain_traceback
    return [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=plain)]
