"""Exports as processes: memory that does not grow with the rows, and files that are whole or not there."""

import asyncio
import gzip
import os
import resource
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

MB = 1024
"""In the unit of `/proc`, which begins anew with the program; what getrusage says begins with who started it."""
PROGRAM = """
import re, sys
from pathlib import Path
from forager.cli.main import run
code = run(sys.argv[1:])
print("peak", re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1], file=sys.stderr)
sys.exit(code)
"""
FILL = """
INSERT INTO pages (domain_id, url, url_hash, depth, priority, status, links_count)
SELECT d.id, 'http://' || d.name || '/n' || n,
       substring(sha256((d.name || n)::bytea) FROM 1 FOR 16), 1, 5, 'fetched', 60
FROM domains d, generate_series(1, CASE d.name WHEN 'idle.example' THEN 400 ELSE 1600 END) n;
INSERT INTO page_link_lists (from_page_id, domain_id, to_page_ids, anchors)
SELECT p.id, p.domain_id, ARRAY(SELECT m.low + (p.id + k) % 1600 FROM generate_series(1, 60) k),
       repeat('some words' || E'\\x1f', 59)
FROM pages p, (SELECT min(id) AS low FROM pages WHERE url LIKE '%/n%') m WHERE p.url LIKE '%/n%';
ANALYZE;
"""
FEW, ALL = 24_000, 120_064
"""A link that is kept takes 300 bytes at least: 96,000 more of them are three times what the test allows."""


class Office:
    """Starts exports in processes of their own."""

    def __init__(self, url: str, folder: Path) -> None:
        self.folder = folder
        self._environment = os.environ | {"FORAGER_DATABASE_URL": url, "FORAGER_HOME": str(folder / "home")}

    async def start(self, *arguments: str, **options: Any) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", PROGRAM, "export", *arguments),
            env=self._environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            **options,
        )

    async def export(self, *arguments: str, **options: Any) -> tuple[int, bytes, str]:
        process = await self.start(*arguments, **options)
        out, err = await process.communicate()
        return process.returncode or 0, out, err.decode()

    async def peak(self, *arguments: str) -> int:
        code, _, err = await self.export(*arguments)
        assert code == 0, err
        return int(err.rpartition("peak ")[2])

    def files(self) -> set[str]:
        return {path.name for path in self.folder.iterdir()} - {"home"}


@pytest.fixture
async def office(world: Any, database_url: str, tmp_path: Path) -> Office:
    await world.conn.execute(FILL)
    return Office(database_url, tmp_path)


async def test_memory_does_not_grow_with_the_rows(office: Office) -> None:
    for name in ("out.jsonl", "out.csv.gz", "out.parquet"):
        path = str(office.folder / name)
        few = await office.peak("links", "-o", path, "--domain", "idle.example", "--quiet")
        many = await office.peak("links", "-o", path, "--quiet")
        assert many - few < 8 * MB, f"{name}: {few} KB for {FEW} rows, {many} KB for {ALL}"
    with (office.folder / "out.jsonl").open() as stream:
        assert sum(1 for _ in stream) == ALL
    with gzip.open(office.folder / "out.csv.gz", "rt") as packed:
        assert sum(1 for _ in packed) == ALL + 1


async def test_whatever_ends_an_export_leaves_the_file_as_it_was(office: Office) -> None:
    path = office.folder / "out.jsonl"
    for number in (signal.SIGINT, signal.SIGKILL):
        for _ in range(5):  # on a busy machine it may be done before we hear that it began
            path.write_text("old")
            process = await office.start("links", "-o", str(path))
            await until_it_writes(office)
            process.send_signal(number)
            await process.communicate()
            if process.returncode:
                break
        assert process.returncode != 0
        assert path.read_text() == "old"
        if number == signal.SIGINT:
            assert office.files() == {"out.jsonl"}
        for left in office.folder.glob(".out.jsonl.*"):
            left.unlink()
    code, _, err = await office.export("links", "-o", str(path), preexec_fn=little_room)
    assert code == 1
    assert "system error: File too large" in err
    assert path.read_text() == "old"
    assert office.files() == {"out.jsonl"}


def little_room() -> None:
    """As on a disk that is nearly full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))


async def until_it_writes(office: Office) -> None:
    async with asyncio.timeout(120):
        while not any(path.stat().st_size for path in office.folder.glob(".out.jsonl.*")):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
