"""The table that `forager tasks` prints."""

from pathlib import Path
from typing import Any, NamedTuple

from forager import clock
from forager.cli import format as words
from forager.cli import output, table
from forager.cli.format import short_url, visit_result
from forager.cli.start import begin, run_query
from forager.cli.table import color_cell, number, say_more, wrap_column
from forager.errors import BadUrlError, UsageError

Row = dict[str, Any]


class TaskFilter(NamedTuple):
    """What `forager tasks` was asked for; None: whatever it is."""

    domain: str | None = None
    url: str | None = None
    run: int | None = None
    is_open: bool | None = None
    status: str | None = None
    batch: str | None = None
    kind: str | None = None
    error: str | None = None


def list_tasks(wanted: TaskFilter, *, limit: int, as_json: bool, home: Path | None) -> None:
    """The command is in `tasks.py`, with its verbs."""
    from forager.tasks import queries as task_queries
    from forager.tasks.batches import find_batch

    domain, url = wanted.domain, _normal(wanted.url) if wanted.url is not None else None

    async def found(connection: Any) -> list[Row]:
        return await task_queries.list_tasks(
            connection,
            domain=domain,
            url=url,
            run=wanted.run,
            is_open=wanted.is_open,
            status=wanted.status,
            batch=(await find_batch(connection, wanted.batch))["id"] if wanted.batch is not None else None,
            is_image=None if wanted.kind is None else wanted.kind == "image",
            error_code=wanted.error,
            limit=limit,
        )

    rows = run_query(begin(home=home), "tasks", found)
    if as_json:
        return output.write_json_list(rows)
    now = clock.now()
    through = any(row["proxy_id"] for row in rows)
    table.write(
        (
            *(number("task"), number("run"), "outcome", number("code"), number("try"), number("time"), "when"),
            *((number("proxy"),) if through else ()),
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
                short_url(row["url"], domain or url),
            )
            for row in rows
        ],
    )
    return say_more(rows, limit, "tasks", "No task fits. `forager tasks` without filters shows them all.")


def _normal(url: str) -> str:
    from forager.urls.normalize import normalize

    try:
        return normalize(url)
    except BadUrlError as error:
        raise UsageError(str(error)) from None
