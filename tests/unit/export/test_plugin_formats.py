"""Formats that plug-ins register: which are taken, and that a file is whole or not there."""

import asyncio
import gzip
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from forager.errors import PluginFailedError, UsageError
from forager.export.commands.writers import choose_format, write_file
from forager.export.formats import Format, PluginFormat, find_format
from forager.export.plugin_writer import stream_with_plugin
from forager.plugins import registry
from forager.plugins.models import NO_PLUGINS, PluginConfig

PLUGIN = """
import forager
from forager.plugins import Exporter

def tsv(rows, columns, file):
    file.write("\\t".join(columns).encode() + b"\\n")
    for row in rows:
        file.write("\\t".join(str(row[name]) for name in columns).encode() + b"\\n")

def fail(rows, columns, file):
    for number, row in enumerate(rows):
        file.write(b"half")
        if number == 600:
            raise ValueError("no\\nmore")

def leave(rows, columns, file):
    file.write(str(next(rows)).encode())

def text(rows, columns, file):
    file.write("text")

def end(rows, columns, file):
    raise SystemExit(3)

@forager.hookimpl
def register_exporters():
    return [
        Exporter("tsv", "tsv", tsv, "text/tab-separated-values"), Exporter("fail", "fail", fail),
        Exporter("leave", "leave", leave), Exporter("text", "table.txt", text), Exporter("end", "end", end),
        Exporter("csv", "own", tsv), Exporter("zip", "gz", tsv), Exporter("Bad Name", "bad", tsv),
        Exporter("other", "tsv", tsv), Exporter("up", "../x", tsv),
    ]
"""
TYPES = {"n": "int4", "name": "text"}


@pytest.fixture(autouse=True)
def plugins(tmp_path: Path) -> Iterator[None]:
    folder = tmp_path / "plugins"
    folder.mkdir()
    (folder / "house.py").write_text(PLUGIN)
    (folder / "idle.py").write_text("raise RuntimeError('imported without need')")
    registry.configure(PluginConfig(str(folder)))
    yield
    registry.configure(NO_PLUGINS)


async def rows(count: int = 3) -> AsyncIterator[dict[str, Any]]:
    for number in range(count):
        yield {"n": number, "name": "日本"}


def test_ours_come_first_and_need_no_plug_in() -> None:
    assert (find_format("csv"), choose_format(None, "a.jsonl.gz"), choose_format(None, "-")) == (
        *(Format.CSV, Format.JSONL, Format.JSONL),
    )
    assert registry.current().module_of("house") is None


def test_names_and_endings_are_checked_once() -> None:
    with pytest.raises(
        UsageError, match=r"no format 'xls'; there are jsonl, csv, parquet, tsv, fail, leave, text, end\."
    ):
        find_format("xls")
    for name in ("a.tsv", "s3://b/a.TSV.gz", "a.b.tsv.zst"):
        chosen = choose_format(None, name)
        assert isinstance(chosen, PluginFormat)
        assert (chosen.plugin, chosen.exporter.name) == ("house", "tsv")
    assert choose_format(None, "a.txt") is Format.JSONL
    (errors,) = registry.current().take_errors()
    assert (errors.plugin, errors.hook, errors.times) == ("house", "register_exporters", 5)


async def test_all_rows_are_written_packed_or_not(tmp_path: Path) -> None:
    seen: list[int] = []
    for count in (0, 500, 1501):
        assert await write_file(str(tmp_path / "a.tsv"), rows(count), TYPES, on_rows=seen.append) == count
        lines = (tmp_path / "a.tsv").read_text().splitlines()
        assert lines == ["n\tname", *(f"{number}\t日本" for number in range(count))]
    assert seen == [500, 500, 1000, 1500, 1501]
    assert await write_file(str(tmp_path / "a.tsv.gz"), rows(1501), TYPES) == 1501
    assert gzip.decompress((tmp_path / "a.tsv.gz").read_bytes()) == (tmp_path / "a.tsv").read_bytes()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("fail", "ValueError: no more."),
        ("leave", "ValueError: it did not take all rows."),
        ("text", "TypeError: memoryview: a bytes-like object is required, not 'str'."),
        ("end", "SystemExit: 3."),
    ],
)
async def test_a_plug_in_that_fails_leaves_the_file_as_it_was(tmp_path: Path, name: str, said: str) -> None:
    file = tmp_path / "a"
    file.write_text("before")
    with pytest.raises(PluginFailedError) as raised:
        await write_file(str(file), rows(2000), TYPES, chosen=find_format(name))
    assert str(raised.value) == f"The plug-in house failed to write the format {name}: {said}"
    assert sorted(os.listdir(tmp_path)) == ["a", "plugins"]
    assert file.read_text() == "before"
    assert registry.current().has_errors


async def test_an_error_of_the_rows_or_the_file_is_not_the_plug_ins(tmp_path: Path) -> None:
    async def broken() -> AsyncIterator[dict[str, Any]]:
        async for row in rows(700):
            yield row
        raise ConnectionResetError("the database went away")

    find_format("tsv")
    registry.current().take_errors()
    with pytest.raises(ConnectionResetError):
        await write_file(str(tmp_path / "a.tsv"), broken(), TYPES)
    with pytest.raises(OSError, match="No space left"):
        await write_file("/dev/full", rows(100_000), TYPES, chosen=find_format("tsv"))
    assert not (tmp_path / "a.tsv").exists()
    assert not registry.current().has_errors


async def test_pieces_come_while_it_writes_and_a_reader_may_leave() -> None:
    chosen = find_format("tsv")
    assert isinstance(chosen, PluginFormat)
    whole = b"".join([piece async for piece in stream_with_plugin(rows(200_000), TYPES, chosen)])
    assert whole.count(b"\n") == 200_001
    assert whole.endswith("\n199999\t日本\n".encode())
    leaving = stream_with_plugin(rows(10_000_000), TYPES, chosen)
    assert (await anext(leaving)).startswith(b"n\tname\n")
    async with asyncio.timeout(20):
        await leaving.aclose()
