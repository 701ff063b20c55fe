"""A crawl of a gallery in one process, with a store of its own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.integration.engine.stage import Stage, serve

from forager.db.database import Database
from forager.engine.image_storage import ImageStorage
from forager.images.decode.client import Decoder
from forager.storage.local import LocalLocation
from forager_playground import Playground
from forager_playground.sites.gallery_tricks import LONG_BYTES, Cdn, GalleryTricks

MAX_BYTES = LONG_BYTES // 2


class Gallery:
    """What tests of a gallery act on: two sites, one run."""

    def __init__(self, database: Database, web: Playground, body_store: ImageStorage, folder: Path) -> None:
        self.database, self.web, self.body_store, self.folder = database, web, body_store, folder
        self.site, self.cdn = list(web.sites)
        self.stage: Stage | None = None

    async def crawl(self, images: str = "download", **order: Any) -> Stage:
        self.stage = await Stage.open(self.database, self.web, f"{self.site}/", **order)
        await self.stage.work({"images": self.body_store}, images=images)
        return self.stage

    def files(self) -> set[str]:
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file()}

    async def images(self, where: str = "true") -> dict[str, Any]:
        """URL → row."""
        rows = await self.fetch(f"SELECT *, status::text FROM images WHERE {where}")
        return {row["url"]: row for row in rows}

    async def fetch(self, sql: str, *args: Any) -> list[Any]:
        async with self.database.pool.acquire() as conn:
            found: list[Any] = await conn.fetch(sql, *args)
            return found

    def requested(self, host: str) -> list[str]:
        """Paths, in order."""
        name = host.removeprefix("http://")
        return [visit.target for visit in self.web.log if visit.host == name and visit.target != "/robots.txt"]


@asynccontextmanager
async def open_gallery(database: Database, folder: Path, *, rooms: int = 3) -> AsyncIterator[Gallery]:
    site, cdn = GalleryTricks(1, rooms), Cdn(1)
    async with serve(site, cdn) as web, Decoder.open(max_pixels=40_000_000) as decoder:
        site.cdn = list(web.sites)[1]
        yield Gallery(database, web, ImageStorage(decoder, LocalLocation(folder), max_bytes=MAX_BYTES), folder)
