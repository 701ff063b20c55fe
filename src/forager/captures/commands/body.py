"""`forager body`: the stored body of a page, as it was at a moment, or what changed between two of its versions."""

import re
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from forager import clock
from forager.cli import output
from forager.cli.durations import parse_past_time
from forager.cli.flags import Home, Output
from forager.cli.help import Command
from forager.cli.start import begin, run_query
from forager.errors import StoreError, UsageError

if TYPE_CHECKING:
    from forager.captures.models import Capture
    from forager.captures.service import Comparison
    from forager.storage.body_reader import OpenBody

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""A stored page must not move the cursor of a terminal, or worse."""
SHOWN_BYTES = 4 * 1024 * 1024


class _Order(NamedTuple):
    which: str
    at: datetime | None
    against: datetime | None


def register(app: typer.Typer) -> None:
    app.command("body", cls=Command, rich_help_panel="Look")(body)


def body(
    which: Annotated[str, typer.Argument(metavar="URL|TASK", help="A page, or the number of a visit.")],
    *,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="TIME", help="As it was then: 2026-01-31, 2026-01-31T12:00, or 7d ago."),
    ] = None,
    file: Output = None,
    diff: Annotated[bool, typer.Option("--diff", help="Show what changed since the version before.")] = False,
    against: Annotated[
        str | None, typer.Option("--against", metavar="TIME", help="With --diff: compare with the version of then.")
    ] = None,
    home: Home = None,
) -> None:
    """Write the stored body of a page, the newest or as it was at a time."""
    if against is not None and not diff:
        raise UsageError("--against names the other version of a comparison; add --diff.")
    if at is not None and which.isdigit():
        raise UsageError("A task has one body; leave --at away, or name the page.")
    if file not in {None, "-"}:
        output.check_writable(str(file))
    now = clock.now()
    order = _Order(
        which,
        parse_past_time(at, now, "--at") if at is not None else None,
        parse_past_time(against, now, "--against") if against is not None else None,
    )
    settings = begin(home=home)
    if diff:
        _write_diff(run_query(settings, "body", lambda conn: _compare(settings, conn, order)), file)
        return
    _write_body(*run_query(settings, "body", lambda conn: _open(settings, conn, order)), file)


async def _find(conn: Any, order: _Order) -> "Capture":
    from forager.captures import queries

    if order.which.isdigit():
        return await queries.find_body(conn, int(order.which))
    page = await queries.find_page_id(conn, queries.with_scheme(order.which))
    return await queries.find_version(conn, page, at=order.at)


async def _open(settings: Any, conn: Any, order: _Order) -> "tuple[Capture, OpenBody]":
    from forager.captures.service import open_body
    from forager.storage.body_reader import BodyReader
    from forager.storage.factory import get_location

    capture = await _find(conn, order)
    return capture, await open_body(BodyReader(get_location(settings)), capture)


async def _compare(settings: Any, conn: Any, order: _Order) -> "Comparison":
    from forager.captures import queries
    from forager.captures.service import compare
    from forager.storage.body_reader import BodyReader
    from forager.storage.factory import get_location

    new = await _find(conn, order)
    if order.against is not None:
        old = await queries.find_version(conn, new.page_id, at=order.against)
    else:
        older = await queries.list_versions(conn, new.page_id, before=new.task_id, limit=1)
        if not older:
            raise UsageError(f"There is no version of {new.url} before that of {new.fetched_at:%Y-%m-%d %H:%M:%S} UTC.")
        old = queries.require_stored(older[0])
    old, new = sorted((old, new), key=lambda capture: capture.task_id)
    return await compare(BodyReader(get_location(settings)), old, new)


def _write_body(capture: "Capture", opened: "OpenBody", file: str | None) -> None:
    if file in {None, "-"} and sys.stdout.isatty():
        _show(opened)
        return
    with output.open_output(file) as target:
        for chunk in opened.chunks():
            target.write(chunk)
    if file not in {None, "-"}:
        output.say(f"Body of {capture.fetched_at:%Y-%m-%d %H:%M:%S} UTC (task {capture.task_id}) written to {file}.")


def _show(opened: "OpenBody") -> None:
    """Text for a terminal, without what would control it."""
    from forager.captures.service import is_text
    from forager.parsing.charset import to_text

    advice = "name a file with -o, or pipe it on."
    try:
        content = opened.read(SHOWN_BYTES)
    except StoreError:
        raise UsageError(f"It has {opened.info.size_bytes:,} bytes: {advice}") from None
    if not is_text(content, opened.info.content_type):
        raise UsageError(f"It is {opened.info.content_type or 'no text'}, and nothing to read on a screen: {advice}")
    text, _ = to_text(content, opened.info.content_type)
    sys.stdout.write(CONTROL.sub("�", text.replace("\r\n", "\n")).rstrip("\n") + "\n")


def _write_diff(found: "Comparison", file: str | None) -> None:
    old, new, diff = found
    with output.open_output(file) as target:
        text = CONTROL.sub("�", diff.text) if file in {None, "-"} and sys.stdout.isatty() else diff.text
        target.write(text.encode())
    span = f"from {old.fetched_at:%Y-%m-%d %H:%M:%S} to {new.fetched_at:%Y-%m-%d %H:%M:%S} UTC"
    if not diff.text:
        output.say(f"No line differs {span}.")
        return
    rough = " They differ in so many places that a part is shown as replaced." if diff.is_rough else ""
    cut = " Only the beginning is shown." if diff.is_truncated else ""
    output.say(f"{diff.added:,} lines added, {diff.removed:,} removed {span}.{rough}{cut}")
