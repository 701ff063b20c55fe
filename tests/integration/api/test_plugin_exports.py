"""Exports in the format of a plug-in: of the API, of the command and of the library."""

import asyncio
import os
import sys
from pathlib import Path

import asyncpg
import httpx
import pytest
from tests.ground import Ground
from tests.integration.export.test_increments import settle

import forager as library
from forager.config.settings import Settings
from forager.plugins import registry
from forager.plugins.config import use_plugins
from forager.plugins.models import NO_PLUGINS

PLUGIN = """
import forager
from forager.plugins import Exporter

def tsv(rows, columns, file):
    file.write("\\t".join(columns).encode() + b"\\n")
    for row in rows:
        if row["title"] == "bad":
            raise ValueError("a bad title")
        file.write("\\t".join(str(row[name]) for name in columns).encode() + b"\\n")

@forager.hookimpl
def register_exporters():
    return [Exporter("tsv", "tsv", tsv, "text/tab-separated-values")]
"""


@pytest.fixture
async def ground_of_pages(conn: asyncpg.Connection, settings: Settings) -> Ground:
    """Three pages, and the plug-in in the data folder."""
    (settings.home / "plugins").mkdir()
    (settings.home / "plugins" / "house.py").write_text(PLUGIN)
    registry.configure(NO_PLUGINS)
    use_plugins(settings)
    ground = Ground(conn)
    domain = await ground.a_domain("a.example")
    for number in range(3):
        await ground.a_page(f"http://a.example/{number}", domain, title=f"page {number}")
    return ground


async def fail_next(ground: Ground) -> None:
    await ground.a_page("http://b.example/", await ground.a_domain("b.example"), title="bad")


async def test_the_api_streams_it_and_breaks_off_where_it_fails(
    user: httpx.AsyncClient, conn: asyncpg.Connection, ground_of_pages: Ground
) -> None:
    answer = await user.get("/api/exports/pages?format=tsv")
    assert answer.headers["content-type"].startswith("text/tab-separated-values")
    assert answer.headers["content-disposition"] == 'attachment; filename="pages.tsv"'
    assert [line.split("\t")[0] for line in answer.text.splitlines()[1:]] == [
        f"http://a.example/{number}" for number in range(3)
    ]
    unknown = await user.get("/api/exports/pages?format=xlsx")
    assert unknown.status_code == 422
    assert "there are jsonl, csv, parquet, tsv." in unknown.text
    assert (await user.get("/api/exports/pages?format=parquet")).status_code == 422
    assert (await user.get("/api/exports/pages?format=../x")).status_code == 422
    await fail_next(ground_of_pages)
    failed = await user.get("/api/exports/pages?format=tsv")
    assert failed.status_code == 409
    assert failed.json()["detail"] == "The plug-in house failed to write the format tsv: ValueError: a bad title."
    assert await conn.fetchval("SELECT hook FROM plugin_errors WHERE plugin = 'house'") == "register_exporters"


async def test_commands_and_scripts_write_files_that_are_whole(
    settings: Settings, conn: asyncpg.Connection, ground_of_pages: Ground, tmp_path: Path
) -> None:
    async def export(*arguments: str) -> tuple[int, str]:
        environ = os.environ | {
            "FORAGER_DATABASE_URL": str(settings.database.url),
            "FORAGER_HOME": str(settings.home),
        }
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "forager", "export", "pages", *arguments),
            env=environ,
            stderr=asyncio.subprocess.PIPE,
        )
        _, err = await process.communicate()
        return process.returncode or 0, err.decode()

    file, numbered = tmp_path / "pages.tsv", tmp_path / "n-{n}.tsv"
    assert await export("-o", str(file)) == (0, f"3 pages written to {file}.\n")
    assert len(file.read_text().splitlines()) == 4
    await settle(conn)
    assert (await export("--since", "last", "-o", str(numbered)))[0] == 0
    await fail_next(ground_of_pages)
    said = "forager: The plug-in house failed to write the format tsv: ValueError: a bad title.\n"
    assert await export("-o", str(tmp_path / "other.tsv")) == (1, said)
    await settle(conn)
    assert await export("--since", "last", "-o", str(numbered)) == (1, said)
    await conn.execute("UPDATE pages SET title = 'good' WHERE title = 'bad'")
    await settle(conn)
    assert (await export("--since", "last", "-o", str(numbered)))[0] == 0
    assert sorted(os.listdir(tmp_path)) == sorted(
        [
            *("plugins", "pages.tsv", "n-000000.tsv", "n-000001.tsv", "n-n.tsv.last.json"),
            *[name for name in os.listdir(tmp_path) if name.endswith((".toml", ".lock"))],
        ]
    )
    assert "\tgood\t" in (tmp_path / "n-000001.tsv").read_text()
    assert await conn.fetchval("SELECT errors FROM plugin_errors WHERE plugin = 'house'") == 2
    code, said = await export("--format", "xlsx")
    assert (code, said) == (2, "forager: There is no format 'xlsx'; there are jsonl, csv, parquet, tsv.\n")
    code, said = await export("--format", "tsv", "--partition-by", "day", "-o", str(tmp_path / "lake"))
    assert (code, said) == (2, "forager: Partitions are Parquet files; choose --format parquet, without --compress.\n")

    def script() -> int:
        with library.open(str(settings.home), database_url=str(settings.database.url)) as f:
            return f.pages().write(tmp_path / "again.tsv")

    assert await asyncio.to_thread(script) == 4
