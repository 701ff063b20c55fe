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
    from forager.export.commands.export import ExportKind
    from forager.export.rows import Filters
    from forager.export.wacz import WaczCount
    from forager.export.warc import Load


def check_options(what: "ExportKind", file: str | None, *, is_formed: bool) -> None:
    from forager.export.commands.export import BODIES

    ending = BODIES[what]
    if is_formed:
        raise UsageError(
            f"A {what.upper()} file is compressed as its format wants it; leave --format and --compress away."
        )
    if file is None or (file != "-" and not file.endswith(ending)):
        raise UsageError(
            f"Name a file that ends with {ending}, or - for standard output: forager export {what} -o FILE."
        )
    if not is_in_bucket(file):
        output.check_writable(file)


def export_bodies(settings: "Settings", what: "ExportKind", filters: "Filters", file: str, *, is_quiet: bool) -> None:
    from forager.export.wacz import WaczCount
    from forager.storage.factory import open_readonly_store

    check_target(settings, file)
    count = WaczCount()
    job = _Export(settings, filters, file, open_readonly_store(settings).load, count)
    write = _write_warc if what == "warc" else _write_wacz
    run_query(settings, "export", lambda conn: write(conn, job, is_quiet=is_quiet))
    if count.missing:
        output.say(f"{words.things(count.missing, 'body', 'bodies')} could not be read from the store.")
    if file != "-" and not is_quiet:
        pages = f", {words.things(count.pages, 'page')}" if what == "wacz" else ""
        output.say(f"{words.things(count.records, 'record')}{pages} written to {file}.")


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
