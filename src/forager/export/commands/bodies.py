"""`forager export warc` and `forager export wacz`: stored bodies as one file."""

from typing import TYPE_CHECKING, Any, NamedTuple

from forager.cli import format as words
from forager.cli import output
from forager.cli.progress import open_progress
from forager.cli.start import run_query
from forager.errors import UsageError
from forager.export.commands.target import check_target, is_in_bucket, open_target

if TYPE_CHECKING:
    from forager.config.settings import Settings
    from forager.export.rows import Filters
    from forager.export.wacz import WaczCount
    from forager.export.warc import Load


ENDINGS = {"warc": ".warc.gz", "wacz": ".wacz"}
"""Exports of stored bodies → how their files end."""


class BodiesOrder(NamedTuple):
    """What the command line said."""

    kind: str
    filters: "Filters"
    target: str
    is_since_last: bool


def check_options(what: str, file: str | None, *, is_formed: bool) -> None:
    ending = ENDINGS[what]
    if is_formed:
        raise UsageError(
            f"A {what.upper()} file is compressed as its format wants it; leave --format, --compress and"
            " --partition-by away."
        )
    if file is None or (file != "-" and not file.endswith(ending)):
        raise UsageError(
            f"Name a file that ends with {ending}, or - for standard output: forager export {what} -o FILE."
        )
    if not is_in_bucket(file):
        output.check_writable(file)


def export_bodies(settings: "Settings", order: BodiesOrder, *, is_quiet: bool) -> None:
    from forager.export.wacz import WaczCount
    from forager.storage.factory import open_readonly_store

    if order.is_since_last and order.target == "-":
        raise UsageError("Name a target with -o: it is remembered what it has.")
    check_target(settings, order.target)
    done = WaczCount()
    job = _Export(settings, order.filters, order.target, open_readonly_store(settings).load, done)
    file = run_query(settings, "export", lambda conn: _export(conn, job, order, is_quiet=is_quiet))
    if done.missing:
        output.say(f"{words.things(done.missing, 'body', 'bodies')} could not be read from the store.")
    if file != "-" and not is_quiet:
        pages = f", {words.things(done.pages, 'page')}" if order.kind == "wacz" else ""
        output.say(f"{words.things(done.records, 'record')}{pages} written to {file}.")


async def _export(conn: Any, job: "_Export", order: BodiesOrder, *, is_quiet: bool) -> str:
    """Returns the file that was written."""
    from forager.export import increments
    from forager.export.commands.changing import NUMBER, place_of_file, target_identity

    write = _write_warc if order.kind == "warc" else _write_wacz
    if not order.is_since_last:
        await write(conn, job, is_quiet=is_quiet)
        return order.target
    folder, name = place_of_file(job.settings, order.target)
    await increments.hold_target(conn, target_identity(order.target))
    increment = await increments.begin(conn, order.kind, order.filters, increments.load_last(folder, name))
    file = order.target.replace(NUMBER, f"{increment.number:06}")
    await write(conn, job._replace(filters=increment.filters, file=file), is_quiet=is_quiet)
    increments.save_last(folder, name, order.kind, increment, job.done.records)
    return file


class _Export(NamedTuple):
    settings: "Settings"
    filters: "Filters"
    file: str
    load: "Load"
    done: "WaczCount"


async def _write_warc(conn: Any, job: _Export, *, is_quiet: bool) -> None:
    from forager.export.warc import stream_warc

    name = job.file.rpartition("/")[2] if job.file != "-" else "forager.warc.gz"
    with (
        open_target(job.settings, job.file) as target,
        open_progress("exporting bodies", 0, is_quiet=is_quiet) as show,
    ):
        async for piece in stream_warc(conn, job.load, name, job.filters, job.done):
            target.write(piece)
            show(job.done.records)


async def _write_wacz(conn: Any, job: _Export, *, is_quiet: bool) -> None:
    from forager.export.wacz import write_wacz

    with (
        open_target(job.settings, job.file) as target,
        open_progress("exporting bodies", 0, is_quiet=is_quiet) as show,
    ):
        await write_wacz(conn, job.load, target, job.filters, count=job.done, on_records=show)
