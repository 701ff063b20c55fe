"""Logs: one line per event on standard error, each with an `action` name. Never writes to standard output.

The level and the JSON form are chosen once per process by the floor that starts it.
"""

import logging
import sys
from typing import Any

import structlog


def configure(*, level: str = "warning", as_json: bool = False) -> None:
    """Choose how this process logs. People get text on a terminal, machines get JSON."""
    renderer: Any = (
        structlog.processors.JSONRenderer(ensure_ascii=True)
        if as_json
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback)
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info if as_json else _unchanged,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )


def _unchanged(_logger: Any, _method: str, event: Any) -> Any:
    return event


def log(**context: Any) -> Any:
    """A logger bound to what every line of the caller shares, such as `worker=7`."""
    return structlog.get_logger(**context)
