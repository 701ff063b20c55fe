"""Exports stored bodies as one WACZ file, the package that ReplayWeb.page and other viewers open: WARC files, their
index, a list of pages and checksums, in a ZIP file whose members a viewer reads by range.

A repeated body is written once. A snapshot becomes a response record with the headers that were kept.
"""

import asyncio
import contextlib
import hashlib
import heapq
import json
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, BinaryIO
from urllib.parse import urlsplit

from isal import igzip_lib

from forager import __version__, clock
from forager.db.types import Connection, Row
from forager.domains.lookup import known_name
from forager.errors import DecodeError, StoreError
from forager.export.rows import PREFETCH_ROWS, SQL, Filters
from forager.export.warc import Count, Load
from forager.fetch.models import Fetched
from forager.logs import log
from forager.parsing.markdown_formats import to_text
from forager.runs.queries import check_run_exists
from forager.storage import warc_record
from forager.storage.refs import WarcRef
from forager.storage.text import render
from forager.storage.warc_record import Original

VERSION = "1.1.1"
AT_ONCE = 50
WARC_BYTES = 1024**3
MOST_ORIGINALS = 100_000
LINES_OF_BLOCK = 300
"""Of the index; a viewer loads a block for a look-up."""
LINES_IN_MEMORY = 100_000
WARC_NAME = "data-{:05}.warc.gz"
HTML = ("text/html", "application/xhtml")
PAGES_HEAD = {"format": "json-pages-1.0", "id": "pages", "title": "All pages", "hasText": True}


@dataclass(slots=True)
class WaczCount(Count):
    pages: int = 0


async def write_wacz(
    conn: Connection,
    load: Load,
    target: BinaryIO,
    filters: Filters,
    *,
    count: WaczCount,
    on_records: Callable[[int], None] = lambda _records: None,
) -> None:
    """Writes the file. Needs an open transaction, as every cursor does."""
    domain = await known_name(conn, filters.domain)
    await check_run_exists(conn, filters.run)
    arguments = (domain, filters.run, filters.since, *(filters.changed or (None, None)))
    with contextlib.ExitStack() as stack:
        spool = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="forager-wacz-")))
        builder = _WaczBuilder(target, load, count, spool, domain)
        rows: list[Row] = []
        async for row in conn.cursor(SQL["export_bodies"], *arguments, prefetch=PREFETCH_ROWS):
            rows.append(row)
            if len(rows) == AT_ONCE:
                await asyncio.to_thread(builder.add, rows)
                on_records(count.records)
                rows = []
        await asyncio.to_thread(builder.add, rows)
        await asyncio.to_thread(builder.finish)
        on_records(count.records)


def _text_of(fetched: Fetched) -> str:
    """Returns the main text, which viewers search; empty where the page cannot be parsed."""
    try:
        return to_text(render(fetched))
    except DecodeError:
        return ""


class _WaczBuilder:
    def __init__(self, target: BinaryIO, load: Load, count: WaczCount, spool: Path, domain: str | None) -> None:
        self._zip = zipfile.ZipFile(target, "w", zipfile.ZIP_STORED, allowZip64=True)
        self._load = load
        self._count = count
        self._lines = _SortedLines(spool)
        self._pages = (spool / "pages").open("w+b")
        self._pages.write(_json(PAGES_HEAD))
        self._domain = domain
        self._main: dict[str, str] = {}
        self._warc: _Member | None = None
        self._warcs = 0
        self._resources: list[dict[str, Any]] = []
        self._originals: dict[str, Original] = {}

    def add(self, rows: list[Row]) -> None:
        for row in rows:
            self._add(row["body_ref"], row["url"], row["completed_at"], row["title"])

    def _add(self, ref: str, url: str, at: datetime, title: str | None) -> None:
        try:
            fetched = self._load(ref, url)
        except StoreError as error:
            log().warning("body not exported", action="export.missing", ref=ref, error=str(error))
            self._count.missing += 1
            return
        digest = warc_record.digest_of(fetched.body)
        original = self._originals.get(digest)
        warc = self._open_warc()
        if original is None:
            self._cache_original(Original(str(WarcRef(warc.name, 0, 0)), digest, fetched.url, warc_record.date_of(at)))
        stored = warc_record.pack(fetched, at, original, digest=digest)
        offset, kind = warc.size, fetched.content_type.partition(";")[0].strip().lower()
        warc.write(stored.blob)
        self._count.records += 1
        fields = {
            "url": url,
            "digest": digest,
            "mime": "warc/revisit" if original else kind or "unk",
            "offset": offset,
            "length": len(stored.blob),
            "status": fetched.status_code,
            "filename": warc.name,
        }
        self._lines.add(f"{viewer_key(url)} {at.astimezone(UTC):%Y%m%d%H%M%S} {json.dumps(fields)}\n")
        if kind.startswith(HTML) and fetched.status_code == 200:
            self._add_page(fetched, url, at, title)

    def _add_page(self, fetched: Fetched, url: str, at: datetime, title: str | None) -> None:
        moment = at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        identity = hashlib.sha256(f"{moment} {url}".encode()).hexdigest()[:22]
        self._pages.write(
            _json({"id": identity, "url": url, "ts": moment, "title": title or url, "text": _text_of(fetched)})
        )
        self._main = self._main or {"mainPageUrl": url, "mainPageDate": moment}
        self._count.pages += 1

    def _cache_original(self, original: Original) -> None:
        self._originals[original.digest] = original
        if len(self._originals) > MOST_ORIGINALS:
            del self._originals[next(iter(self._originals))]

    def _open_warc(self) -> "_Member":
        if self._warc is not None and self._warc.size >= WARC_BYTES:
            self._close(self._warc)
            self._warc = None
        if self._warc is None:
            self._warcs += 1
            name = WARC_NAME.format(self._warcs)
            self._warc = _Member(self._zip, f"archive/{name}", name)
            self._warc.write(warc_record.info(name, clock.now(), software=f"Forager/{__version__}", user_agent=""))
        return self._warc

    def _close(self, member: "_Member") -> None:
        self._resources.append(member.close())

    def finish(self) -> None:
        self._close(self._open_warc())
        self._write_index()
        pages = _Member(self._zip, "pages/pages.jsonl", "pages.jsonl", zipfile.ZIP_DEFLATED)
        self._pages.seek(0)
        while chunk := self._pages.read(1 << 20):
            pages.write(chunk)
        self._pages.close()
        self._close(pages)
        package = _json(self._package(), indent=2)
        digest = {"path": "datapackage.json", "hash": "sha256:" + hashlib.sha256(package).hexdigest()}
        for name, content in (("datapackage.json", package), ("datapackage-digest.json", _json(digest, indent=2))):
            self._zip.writestr(_info(name, zipfile.ZIP_DEFLATED), content)
        self._zip.close()

    def _write_index(self) -> None:
        """Writes the index in blocks, and which block begins with what."""
        heads = [f"!meta 0 {json.dumps({'format': 'cdxj-gzip-1.0', 'filename': 'index.cdx.gz'})}\n"]
        index = _Member(self._zip, "indexes/index.cdx.gz", "index.cdx.gz")
        for block in _blocks(self._lines.sorted()):
            packed = igzip_lib.compress("".join(block).encode(), warc_record.LEVEL, igzip_lib.COMP_GZIP)
            digest = "sha256:" + hashlib.sha256(packed).hexdigest()
            place = {"offset": index.size, "length": len(packed), "digest": digest, "filename": "index.cdx.gz"}
            heads.append(f"{block[0].partition('{')[0].strip()} {json.dumps(place)}\n")
            index.write(packed)
        self._close(index)
        short = _Member(self._zip, "indexes/index.idx", "index.idx", zipfile.ZIP_DEFLATED)
        for head in heads:
            short.write(head.encode())
        self._close(short)

    def _package(self) -> dict[str, Any]:
        return {
            "profile": "data-package",
            "title": self._domain or "Forager",
            "resources": self._resources,
            "wacz_version": VERSION,
            "software": f"Forager/{__version__}",
            "created": clock.now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            **self._main,
        }


class _Member:
    """A file in the ZIP file, as it is written."""

    def __init__(self, package: zipfile.ZipFile, path: str, name: str, packing: int = zipfile.ZIP_STORED) -> None:
        self._path, self.name = path, name
        # No ZIP64 header per member, which viewers do not expect: a WARC file is closed long before 2 GB.
        self._stream: IO[bytes] = package.open(_info(path, packing), "w")
        self._checksum = hashlib.sha256()
        self.size = 0

    def write(self, content: bytes) -> None:
        self._stream.write(content)
        self._checksum.update(content)
        self.size += len(content)

    def close(self) -> dict[str, Any]:
        self._stream.close()
        checksum = "sha256:" + self._checksum.hexdigest()
        return {"name": self.name, "path": self._path, "hash": checksum, "bytes": self.size}


@dataclass(slots=True)
class _SortedLines:
    """Lines to be sorted, in memory up to a number of them, the others in files."""

    folder: Path
    _lines: list[str] = field(default_factory=list)
    _files: list[Path] = field(default_factory=list)

    def add(self, line: str) -> None:
        self._lines.append(line)
        if len(self._lines) == LINES_IN_MEMORY:
            path = self.folder / f"index-{len(self._files)}"
            path.write_text("".join(sorted(self._lines)), encoding="utf-8")
            self._files.append(path)
            self._lines.clear()

    def sorted(self) -> Iterator[str]:
        with contextlib.ExitStack() as stack:
            files = [stack.enter_context(path.open(encoding="utf-8", newline="\n")) for path in self._files]
            yield from heapq.merge(*files, sorted(self._lines))


def _blocks(lines: Iterator[str]) -> Iterator[list[str]]:
    block: list[str] = []
    for line in lines:
        block.append(line)
        if len(block) == LINES_OF_BLOCK:
            yield block
            block = []
    if block:
        yield block


def viewer_key(url: str) -> str:
    """Returns the key under which viewers look a URL up: the host turned around, parameters in order."""
    parts = urlsplit(url.lower())
    host = (parts.hostname or "").removeprefix("www.")
    port = f":{parts.port}" if parts.port else ""
    query = f"?{'&'.join(sorted(parts.query.split('&')))}" if parts.query else ""
    return f"{','.join(reversed(host.split('.')))}{port}){parts.path or '/'}{query}".replace(" ", "%20")


def _info(path: str, packing: int) -> zipfile.ZipInfo:
    found = zipfile.ZipInfo(path, clock.now().astimezone(UTC).timetuple()[:6])
    found.compress_type = packing
    found.external_attr = 0o644 << 16
    return found


def _json(document: object, indent: int | None = None) -> bytes:
    return json.dumps(document, ensure_ascii=False, indent=indent).encode() + b"\n"
