"""What an operator may do with extractors: list them, and try one on stored pages or on given HTML."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forager.db import statements
from forager.db.rows import Row
from forager.domains.lookup import known_name
from forager.engine.parser_pool import ParserPool, open_pool
from forager.engine.parser_protocol import ParserConfig
from forager.errors import NotFoundError, NotStoredError, ParserCrashError, ResponseError, StoreError, UsageError
from forager.fetch.models import Fetched
from forager.parsing.charset import to_utf8
from forager.parsing.extractors.load import FOLDER, Loaded, load_folder, parse_extractor
from forager.parsing.models import ParseOptions, Reading
from forager.records import model_store
from forager.records.model_client import is_configured
from forager.records.models import pack
from forager.records.queries import count_by_extractor
from forager.storage.factory import open_readonly_store

if TYPE_CHECKING:
    from forager.config.settings import Settings
    from forager.db.types import Connection
    from forager.instance import Forager
    from forager.parsing.extractors.by_model import ModelExtractor
    from forager.parsing.extractors.definition import Extractor

SQL = statements.load("forager.records", "list.sql")
MOST_PAGES = 20
MOST_STARTS = 3
LONGEST_DEFINITION = 65_536
LONGEST_SHOWN = 2_000_000


@dataclass(frozen=True, slots=True)
class TryOrder:
    """What an extractor is tried on: HTML with its URL, a stored page, or the newest stored pages."""

    definition: str
    """The text of an extractor file."""
    html: str | None = None
    url: str | None = None
    page: int | None = None
    domain: str | None = None
    pages: int = 5


def folder_of(home: Path) -> Path:
    """Returns where the files of extractors are."""
    return home / FOLDER


async def list_extractors(conn: "Connection", settings: "Settings") -> tuple[list[Row], list[Row]]:
    """Returns the extractors with their numbers, also those of plug-ins and of files that are gone; and bad files."""
    import asyncio

    loaded: Loaded = await asyncio.to_thread(load_folder, folder_of(settings.home))
    counts = await count_by_extractor(conn)
    empty = {
        "records": 0,
        "complete": 0,
        "gone": 0,
        "domains": 0,
        "last_seen_at": None,
        "failed": 0,
        "last_error": None,
    }
    files = {each.name: _told(each, file) for each, file in loaded.all()}
    models = await _model_states(conn, settings, loaded) if loaded.by_model else {}
    rows = [
        told | {key: counts.get(name, empty)[key] or empty[key] for key in empty} | {"model": models.get(name)}
        for name, told in files.items()
    ]
    rows += [
        {"name": name, "file": None, "version": None, "kind": None, "description": "", "match": {}, "fields": []}
        | {key: row[key] or empty[key] for key in empty}
        | {"model": None}
        for name, row in counts.items()
        if name not in files
    ]
    return rows, [{"file": bad.file, "problem": bad.problem} for bad in loaded.bad]


def _told(each: "Extractor | ModelExtractor", file: str) -> Row:
    return {
        "name": each.name,
        "file": file,
        "version": each.version,
        "kind": each.record.kind,
        "description": each.description,
        "match": each.match.model_dump(mode="json"),
        "fields": list(each.fields),
    }


async def _model_states(conn: "Connection", settings: "Settings", loaded: Loaded) -> dict[str, Row]:
    """Returns how far the extractors are that ask a model, and how it stands with the model."""
    state, pages = await model_store.get_state(conn), await model_store.count_pages(conn)
    shared: Row = {
        "is_configured": is_configured(settings),
        "calls_today": state.calls_today,
        "max_calls_per_day": settings.model.max_calls_per_day,
        "paused_until": state.paused_until if state.pause_left_s > 0 else None,
    }
    found: dict[str, Row] = {}
    for each in loaded.by_model:
        of_pages = pages.get(each.name)
        waiting, done, failed = of_pages[1:4] if of_pages else (0, 0, 0)
        error = (of_pages.problem if of_pages else None) or (state.last_error if state.failures else None)
        found[each.name] = shared | {"waiting": waiting, "done": done, "failed": failed, "last_error": error}
    return found


async def read_definition(home: Path, name: str) -> str:
    """Returns the text of an extractor's file; raises NotFoundError if there is none."""
    import asyncio

    loaded = await asyncio.to_thread(load_folder, folder_of(home))
    for extractor, file in loaded.all():
        if extractor.name == name:
            return await asyncio.to_thread((folder_of(home) / file).read_text, "utf-8")
    raise NotFoundError(f"There is no extractor file named {name!r}; `forager extractors` lists them.")


async def load_html(forager: "Forager", *, page: int | None, domain: str | None) -> dict[str, Any]:
    """Returns a stored page as text, to look at and choose elements in; a long one is cut."""
    import asyncio

    try:
        [(page_id, fetched)] = await load_samples(forager, page=page, domain=domain, most=1)
    except NotStoredError as error:
        raise NotFoundError(str(error)) from None
    body, content_type = fetched.body[:LONGEST_SHOWN], fetched.content_type
    html = await asyncio.to_thread(lambda: to_utf8(body, content_type)[0].decode("utf-8", "replace"))
    return {"page_id": page_id, "url": fetched.url, "html": html.replace("\0", "")}


async def try_extractor(forager: "Forager", order: TryOrder) -> dict[str, Any]:
    """Runs an extractor in a parser process, under its limits, and returns what it finds on each page. Stores nothing;
    raises UsageError for a definition that is wrong."""
    if len(order.definition.encode()) > LONGEST_DEFINITION:
        raise UsageError(f"The definition is larger than {LONGEST_DEFINITION // 1024} KB.")
    extractor = parse_extractor(order.definition, "the definition")
    pages = await _pages(forager, order)
    config = ParserConfig(forager.settings.politeness.robots_agent)
    options = ParseOptions(keyword_words=0, extractor_texts=(order.definition,))
    async with open_pool(config, 1, most_starts=MOST_STARTS) as pool:
        assert pool is not None
        tried = [await _try(pool, options, page_id, fetched) for page_id, fetched in pages]
    return {"name": extractor.name, "kind": extractor.record.kind, "pages": tried}


async def _pages(forager: "Forager", order: TryOrder) -> Sequence[tuple[int | None, Fetched]]:
    if order.html is not None:
        if not order.url:
            raise UsageError("HTML needs the URL that it came from.")
        body = order.html.encode("utf-8", "replace")
        return [(None, Fetched(order.url, 200, {"content-type": "text/html; charset=utf-8"}, body, len(body), 0))]
    return await load_samples(forager, page=order.page, domain=order.domain, most=order.pages)


async def load_samples(
    forager: "Forager", *, page: int | None = None, domain: str | None = None, most: int = 5
) -> list[tuple[int | None, Fetched]]:
    """Returns stored pages, the newest first; raises NotStoredError if there are none."""
    import asyncio

    async with forager.pool.acquire() as conn:
        name = await known_name(conn, domain)
        rows = await conn.fetch(SQL["sample_bodies"], page, name, min(most, MOST_PAGES))
    store = open_readonly_store(forager.settings)
    found: list[tuple[int | None, Fetched]] = []
    for row in rows:
        try:
            found.append((row["page_id"], await asyncio.to_thread(store.load, row["body_ref"], row["url"])))
        except StoreError:
            continue
    if not found:
        raise NotStoredError(
            "No body is stored to try it on: crawl with the content policy `snapshot`, or give HTML and its URL."
        )
    return found


async def _try(pool: ParserPool, options: ParseOptions, page_id: int | None, fetched: Fetched) -> dict[str, Any]:
    told: dict[str, Any] = {"page_id": page_id, "url": fetched.url, "records": [], "problems": []}
    try:
        reading: Reading | None = await pool.read(fetched, options, is_suspect=True)
    except (ResponseError, ParserCrashError) as error:
        return told | {"problems": [str(error)]}
    if reading is None:
        return told
    records = [pack(record) | {"is_complete": record.is_complete} for record in reading.records]
    return told | {"records": records, "problems": list(reading.extractor_problems)}
