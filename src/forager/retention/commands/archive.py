"""`forager archive`: old visits move to cold files; what is cold is listed, verified, and read back to look at."""

import sys
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager.cli import format as words
from forager.cli import output, table
from forager.cli.flags import AsJson, Home
from forager.cli.help import Command, Group
from forager.cli.start import Noted, begin, repair, run_query, whoami
from forager.cli.table import Cell, Column, number, text_column
from forager.errors import UsageError

if TYPE_CHECKING:
    from forager.config.settings import Settings
    from forager.frontier.history import Slice
    from forager.retention.archive import Moved
    from forager.retention.minute_archive import StatsFile

DAMAGED = 1
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be moved; move nothing.")]
Month = Annotated[str, typer.Argument(metavar="MONTH", help="Such as 2026-01.")]
SomeMonth = Annotated[str | None, typer.Argument(metavar="MONTH", help="Such as 2026-01; by default all.")]


def register(app: typer.Typer) -> None:
    family = typer.Typer(
        cls=Group, rich_markup_mode=None, help="Move old visits to archive files, and list, verify or restore those."
    )
    family.callback(invoke_without_command=True)(archive)
    family.command("list", cls=Command)(list_files)
    family.command("verify", cls=Command)(verify)
    family.command("restore", cls=Command)(restore)
    family.command("drop", cls=Command)(drop)
    app.add_typer(family, name="archive", rich_help_panel="Look after it")


def archive(context: typer.Context, dry_run: DryRun = False, as_json: AsJson = False, home: Home = None) -> None:
    """Move old visits to archive files, and list, verify or restore those."""
    if context.invoked_subcommand is not None:
        if dry_run or as_json or home:
            raise UsageError("Flags of a verb stand behind it: forager archive list --home FOLDER.")
        return
    settings = begin(home=home)
    if dry_run:
        _show_plan(settings, as_json=as_json)
        return
    moved = repair(settings, "archive", lambda pool: _move(pool, settings), noted=_noted)
    if as_json:
        output.write_json(
            {
                "slices": moved.slices,
                "rows": moved.rows,
                "stored_bytes": moved.stored_bytes,
                "finished": moved.finished,
                "copied": moved.copied,
                "months": sorted(f"{month:%Y-%m}" for month in moved.months),
            }
        )
    else:
        _tell(moved, settings)


def _noted(moved: "Moved") -> Noted | None:
    told = {"rows": moved.rows, "files": moved.slices, "finished": moved.finished, "copied": moved.copied}
    return Noted("history.archive", "history", None, told) if any(told.values()) else None


async def _move(pool: Any, settings: "Settings") -> "Moved":
    from forager.retention.service import archive as move_all

    async with pool.acquire() as conn:
        return await move_all(conn, settings, by=whoami(), on_moved=_show_progress)


def _show_progress(moved: "Moved") -> None:
    if sys.stderr.isatty() and moved.rows:
        output.say(f"{words.things(moved.rows, 'row')} so far, up to {max(moved.months):%Y-%m}.")


def _tell(moved: "Moved", settings: "Settings") -> None:
    from forager.retention.service import cold_folder

    if moved.finished:
        output.say(f"{words.things(moved.finished, 'slice')} of an earlier run finished.")
    if moved.copied:
        output.say(f"{words.things(moved.copied, 'earlier file')} copied to {settings.archive.bucket}.")
    if not moved.rows:
        output.say(
            "Nothing to move: nothing is old enough yet that may leave. `forager archive list` shows what is cold."
        )
        return
    also = f" and {settings.archive.bucket}" if settings.archive.bucket else ""
    where = f"{words.things(moved.slices, 'file')} below {cold_folder(settings)}{also}"
    output.say(f"{words.things(moved.rows, 'row')} moved to {where} ({words.size(moved.stored_bytes)}).")


def _show_plan(settings: "Settings", *, as_json: bool) -> None:
    from forager.retention.archive import plan
    from forager.retention.service import retention_of

    planned = run_query(settings, "archive", lambda conn: plan(conn, retention_of(settings)))
    if as_json:
        output.write_json_list(
            [
                {
                    "month": f"{each.month:%Y-%m}",
                    "kind": each.kind,
                    "rows": each.row_count,
                    "size_bytes": each.size_bytes,
                    "domains": each.domains,
                    "first_at": each.first_at,
                    "last_at": each.last_at,
                }
                for each in planned
            ]
        )
        return
    if planned:
        rows = [
            (
                f"{each.month:%Y-%m}",
                each.kind,
                words.count(each.row_count),
                words.size(each.size_bytes),
                words.count(each.domains),
                f"{each.first_at:%Y-%m-%d} – {each.last_at:%Y-%m-%d}",
            )
            for each in planned
        ]
        table.write(("month", "kind", number("rows"), number("in tables"), number("domains"), "of"), rows)
    total, size = sum(each.row_count for each in planned), sum(each.size_bytes for each in planned)
    output.say(f"{words.things(total, 'row')} ({words.size(size)}) would be moved; nothing was changed.")


def list_files(month: SomeMonth = None, as_json: AsJson = False, home: Home = None) -> None:
    """List the archive files."""
    from forager.retention import minute_archive as cold_stats
    from forager.retention.archive import list_archive_parts
    from forager.retention.service import cold_folder

    settings, chosen = begin(home=home), month_of(month) if month else None
    slices = run_query(settings, "archive", lambda conn: list_archive_parts(conn, chosen))
    stats = cold_stats.find(cold_folder(settings), chosen)
    if as_json:
        output.write_json_list([*(_slice_row(each) for each in slices), *(_stats_row(each) for each in stats)])
    elif slices or stats:
        rows: list[table.Row] = [
            (
                f"{each.month:%Y-%m}",
                each.kind,
                each.status,
                words.count(each.row_count),
                words.size(each.stored_bytes),
                words.count(each.restored),
                each.file,
            )
            for each in slices
        ]
        rows += [
            (f"{each.day:%Y-%m}", "stats", "moved", "–", words.size(each.stored_bytes), "–", each.file)
            for each in stats
        ]
        titles = ("month", "kind", "status", number("rows"), number("on disk"), number("restored"), text_column("file"))
        table.write(titles, rows)
    else:
        output.say("There are no archive files. `forager archive --dry-run` shows what would be moved.")


def _slice_row(each: "Slice") -> dict[str, Any]:
    return {
        "slice": each.id,
        "month": f"{each.month:%Y-%m}",
        "kind": each.kind,
        "status": each.status,
        "file": each.file,
        "rows": each.row_count,
        "stored_bytes": each.stored_bytes,
        "sha256": each.sha256,
        "restored": each.restored,
        "created_at": each.created_at,
        "created_by": each.created_by,
    }


def _stats_row(each: "StatsFile") -> dict[str, Any]:
    told = {"month": f"{each.day:%Y-%m}", "kind": "stats", "status": "moved"}
    return told | {"day": each.day, "file": each.file, "stored_bytes": each.stored_bytes}


def verify(month: SomeMonth = None, as_json: AsJson = False, home: Home = None) -> None:
    """Read archive files and their copies completely, and compare them with what was written."""
    from forager.retention.archive import verify as verify_all
    from forager.retention.service import cold_folder, get_cold_bucket

    settings, chosen = begin(home=home), month_of(month) if month else None
    folder, copies = cold_folder(settings), get_cold_bucket(settings)
    found = run_query(settings, "archive", lambda conn: verify_all(conn, folder, chosen, copies=copies))
    damaged = sum(each.trouble is not None for each in found)
    bad_copies = sum(each.copy_trouble is not None for each in found)
    if as_json:
        rows = [{"file": each.file, "trouble": each.trouble} for each in found]
        told = [{"copy_trouble": each.copy_trouble} if copies else {} for each in found]
        output.write_json_list([row | more for row, more in zip(rows, told, strict=True)])
    else:
        titles: list[Column | str] = [text_column("file"), "state", *(["copy"] if copies else [])]
        cells = [(each.file, _state(each.trouble), *([_state(each.copy_trouble)] if copies else [])) for each in found]
        if cells:
            table.write(titles, cells)
        of_copies = f", and {bad_copies} of their copies in {copies}" if copies else ""
        output.say(f"{words.things(len(found), 'file')} read, {damaged} damaged or missing{of_copies}.")
    if damaged or bad_copies:
        raise typer.Exit(DAMAGED)


def _state(trouble: str | None) -> Cell | str:
    return Cell(trouble, "red") if trouble else "sound"


def restore(month: Month, home: Home = None) -> None:
    """Read a month back into the tables restored_tasks and restored_pages."""
    from forager.retention import archive as cold
    from forager.retention.service import cold_folder, get_cold_bucket

    settings, chosen = begin(home=home), month_of(month)

    async def read_back(pool: Any) -> int:
        async with pool.acquire() as conn:
            return await cold.restore(conn, cold_folder(settings), chosen, copies=get_cold_bucket(settings))

    total = repair(
        settings, "archive", read_back, noted=lambda total: Noted("history.restore", "history", month, {"rows": total})
    )
    hint = f"`forager archive drop {month}` drops them again"
    output.say(f"{words.things(total, 'row')} of {month} in the tables restored_tasks and restored_pages; {hint}.")


def drop(month: SomeMonth = None, home: Home = None) -> None:
    """Drop the restored rows; the files stay."""
    from forager.retention.archive import drop_restored

    chosen = month_of(month) if month else None

    async def drop_rows(pool: Any) -> int:
        async with pool.acquire() as conn:
            return await drop_restored(conn, chosen)

    dropped = repair(
        begin(home=home),
        "archive",
        drop_rows,
        noted=lambda rows: Noted("history.drop_restored", "history", month, {"rows": rows}) if rows else None,
    )
    output.say(f"{words.things(dropped, 'restored row')} dropped; the files stay.")


def month_of(text: str) -> date:
    try:
        return date.fromisoformat(f"{text}-01")
    except ValueError:
        raise UsageError(f"{text!r} is no month: write it like 2026-01.") from None
