"""The table that `forager tasks` prints."""

from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from forager import clock
from forager.cli import format as words
from forager.cli import output, table
from forager.cli.durations import parse_past_time
from forager.cli.format import short_url, visit_result
from forager.cli.start import begin, run_query
from forager.cli.table import color_cell, extra, number, say_more, wrap_column
from forager.errors import BadUrlError, UsageError

Row = dict[str, Any]


class TaskOptions(NamedTuple):
    """What `forager tasks` was asked for; None: whatever it is."""

    domain: str | None = None
    url: str | None = None
    run: int | None = None
    is_open: bool | None = None
    status: str | None = None
    batch: str | None = None
    kind: str | None = None
    error: str | None = None
    code: str | None = None
    contains: str | None = None
    worker: int | None = None
    created_by: str | None = None
    created_since: str | None = None
    created_until: str | None = None
    since: str | None = None
    until: str | None = None
    priority: int | None = None
    source: str | None = None
    parser: str | None = None


def list_tasks(wanted: TaskOptions, *, limit: int, as_json: bool, home: Path | None) -> None:
    """The command is in `tasks.py`, with its verbs."""
    from forager.tasks import queries as task_queries
    from forager.tasks.batches import find_batch

    domain, url = wanted.domain, _normal(wanted.url) if wanted.url is not None else None

    now = clock.now()

    async def found(connection: Any) -> list[Row]:
        chosen = task_queries.TaskFilter(
            domain=domain,
            url=url,
            run=wanted.run,
            is_open=wanted.is_open,
            status=wanted.status,
            batch=(await find_batch(connection, wanted.batch))["id"] if wanted.batch is not None else None,
            is_image=None if wanted.kind is None else wanted.kind == "image",
            error_code=wanted.error,
            status_code=wanted.code,
            url_part=wanted.contains,
            worker=wanted.worker,
            created_by=wanted.created_by,
            created_since=_past(wanted.created_since, now),
            created_until=_past(wanted.created_until, now),
            completed_since=_past(wanted.since, now),
            completed_until=_past(wanted.until, now),
            priority=wanted.priority,
            source=wanted.source,
            parser=wanted.parser,
        )
        return (await task_queries.list_tasks(connection, chosen, limit=limit)).rows

    rows = run_query(begin(home=home), "tasks", found)
    if as_json:
        return output.write_json_list(rows)
    through = any(row["proxy_id"] for row in rows)
    table.write(
        (
            *(number("task"), extra(number("run")), "outcome", number("code")),
            *(extra(number("try")), extra(number("time")), "when"),
            *((number("proxy"),) if through else ()),
            extra(number("size")),
            wrap_column("url"),
        ),
        [
            (
                str(row["id"]),
                str(row["run_id"] or "–"),
                color_cell(row["outcome"] or row["status"]),
                visit_result(row),
                str(row["retry_count"] + 1),
                "–" if row["response_time_ms"] is None else f"{words.count(row['response_time_ms'])} ms",
                words.format_relative(row["completed_at"] or row["locked_at"] or row["scheduled_for"], now),
                *((str(row["proxy_id"] or "–"),) if through else ()),
                "–" if row["bytes"] is None else words.size(row["bytes"]),
                short_url(row["url"], domain or url),
            )
            for row in rows
        ],
    )
    return say_more(rows, limit, "tasks", "No task matches. `forager tasks` without filters shows them all.")


def _past(text: str | None, now: datetime) -> datetime | None:
    return parse_past_time(text, now) if text is not None else None


def _normal(url: str) -> str:
    from forager.urls.normalize import normalize

    try:
        return normalize(url)
    except BadUrlError as error:
        raise UsageError(str(error)) from None
