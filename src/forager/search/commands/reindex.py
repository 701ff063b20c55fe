"""`forager reindex`: rebuilds the search index from PostgreSQL, while searches use the existing one."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output
from forager.cli.flags import AsJson, Home
from forager.cli.help import Command
from forager.cli.start import Noted, begin, note
from forager.errors import ForagerError, SearchServerError, UsageError

if TYPE_CHECKING:
    from forager.config.settings import Settings
    from forager.instance import Forager
    from forager.search.reindex import RejectedItem
    from forager.search.sync import SyncResult, SyncStatus

LINE_EVERY_S = 10.0
Anew = Annotated[bool, typer.Option("--anew", help="Discard an unfinished index and start again.")]
Off = Annotated[
    bool, typer.Option("--off", help="Stop using the search server: delete its indexes, record no more changes.")
]
Status = Annotated[bool, typer.Option("--status", help="Only show the status.")]


def register(app: typer.Typer) -> None:
    app.command("reindex", cls=Command, rich_help_panel="Look after it")(reindex)


def reindex(
    *, anew: Anew = False, off: Off = False, status: Status = False, as_json: AsJson = False, home: Home = None
) -> None:
    """Rebuild the search index while searches continue; an interrupted rebuild resumes."""
    import asyncio

    if anew + off + status > 1:
        raise UsageError("--anew, --off and --status exclude each other.")
    document, sentences = asyncio.run(_work(begin(home=home), anew=anew, off=off, status=status))
    if as_json:
        return output.write_json(document)
    for sentence in sentences:
        output.say(sentence)
    return None


async def _work(settings: "Settings", *, anew: bool, off: bool, status: bool) -> tuple[dict[str, Any], list[str]]:
    from forager.instance import open_forager

    async with open_forager(settings, application="forager reindex") as forager:
        if status:
            return await _tell(forager)
        if off:
            return await _leave(forager)
        return await _make(forager, anew=anew)


async def _make(forager: "Forager", *, anew: bool) -> tuple[dict[str, Any], list[str]]:
    from forager.search.backend import open_searching
    from forager.search.reindex import reindex as make
    from forager.search.service import index_all

    async with open_searching(forager.settings) as elsewhere:
        changed = await index_all(forager.pool, anew=elsewhere is None)
        if elsewhere is None:
            await note(forager.database, Noted("search.reindex", "search", "postgres", {"pages": changed}))
            sentence = f"PostgreSQL is used for search: {words.things(changed, 'page')} indexed again."
            return {"backend": "postgres", "changed": changed}, [sentence]
        async with forager.pool.acquire() as conn:
            try:
                done = await make(conn, elsewhere, anew=anew, on_progress=_ProgressLog())
            except SearchServerError as error:
                raise ForagerError(f"{error} What was done stays done: run it again.") from None
            standing = done.standing
        told = {"documents": done.filled, "changes": done.changes, "refused": standing.refused}
        await note(forager.database, Noted("search.reindex", "search", elsewhere.server.place, told))
    sent = f"{words.things(done.filled, 'document')} and {words.things(done.changes, 'change')}"
    sentence = f"A new index is searched from now on; this command sent {sent} to it."
    return {"backend": "opensearch", **told}, [sentence, *_list_errors(standing)]


async def _leave(forager: "Forager") -> tuple[dict[str, Any], list[str]]:
    from forager.search.backend import open_searching
    from forager.search.reindex import leave

    settings = forager.settings
    async with open_searching(settings) as elsewhere, forager.pool.acquire() as conn:
        try:
            await leave(conn, elsewhere, settings.search.index_prefix)
            left = "" if elsewhere else " Without search.backend = opensearch its indexes could not be deleted there."
        except SearchServerError as error:
            left = f" {error} Its indexes are still there."
    await note(forager.database, Noted("search.leave", "search", None, {}))
    hint = " Set search.backend = postgres, or an index is made again." if elsewhere else ""
    return {"backend": "postgres"}, [f"Changes are noted for no search server any more.{left}{hint}"]


async def _tell(forager: "Forager") -> tuple[dict[str, Any], list[str]]:
    from forager.search.reindex import list_rejected
    from forager.search.sync import read_sync_status

    async with forager.pool.acquire() as conn:
        standing, refused = await read_sync_status(conn), await list_rejected(conn)
    document = {
        "backend": forager.settings.search.backend,
        **asdict(standing),
        "documents": [asdict(each) for each in refused],
    }
    return document, [
        *_format_status(forager.settings.search.backend, standing),
        *_list_errors(standing),
        *_list_rejected(refused),
    ]


def _format_status(backend: str, standing: "SyncStatus") -> Iterator[str]:
    if backend == "postgres" and not standing.has_live and not standing.is_building:
        yield "PostgreSQL does the searching."
        return
    state = "is in use" if standing.has_live else "is not built yet; PostgreSQL is used"
    making = "; another one is being built" if standing.is_building and standing.has_live else ""
    yield f"The search server's index {state}{making}; {words.things(standing.waiting, 'change')} to be sent."
    if backend == "postgres":
        yield "search.backend is postgres, so they are not sent: `forager reindex --off` stops recording them."


def _list_errors(standing: "SyncStatus") -> Iterator[str]:
    if standing.refused:
        yield (
            f"The server rejected {words.things(standing.refused, 'document')}: `forager reindex --status` says "
            "which and why."
        )


def _list_rejected(refused: "list[RejectedItem]") -> Iterator[str]:
    for each in refused:
        yield f"  {each.kind} {each.id}: {words.clean(each.reason)}"


class _ProgressLog:
    """A line every ten seconds."""

    def __init__(self) -> None:
        self._next_at = clock.monotonic() + LINE_EVERY_S

    def __call__(self, done: "SyncResult") -> None:
        if clock.monotonic() >= self._next_at:
            self._next_at = clock.monotonic() + LINE_EVERY_S
            output.say(f"{words.things(done.filled, 'document')}, {words.things(done.changes, 'change')} sent")
