"""A plug-in that fails, hangs or crashes costs its own records: the page is read, and the failure is known by name."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from tests.builders import a_fetched

from forager.engine.parser_pool import ParserPool, open_pool
from forager.engine.parser_protocol import ParserConfig
from forager.parsing.models import Reading
from forager.plugins.models import CRASH, IMPORT, UNKNOWN, PluginConfig

PAGE = b"<!doctype html><title>A house</title><body><h1>House</h1><p>The house by the lake is very old.</p>"
HEAD = "import forager\n\n@forager.hookimpl\ndef extract_records(page):\n"
GOOD = HEAD + '    return [{"title": page.title, "words": len(page.text.split())}]\n'
HARM = {
    "raises": "raise KeyError('price')",
    "exits": "raise SystemExit(3)",
    "sleeps": "import time; time.sleep(3600)",
    "loops": "\n    while True: pass",
    "segfaults": "import ctypes; ctypes.string_at(0)",
    "leaves": "import os; os._exit(0)",
    "eats": "return [{'x': 'x' * 1024 ** 3}]",
    "kills": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "lies": "return 'a text'",
    "objects": "return [{'x': object()}]",
    "many": "return ({'n': n} for n in range(10 ** 9))",
    "deep": "x = []\n    x.append(x)\n    return [{'x': x}]",
}
RAISED = {"raises", "exits", "lies", "objects", "many", "deep"}
Open = Callable[[], AbstractAsyncContextManager[ParserPool]]


@pytest.fixture
def open_with(tmp_path: Path) -> Open:
    @asynccontextmanager
    async def opened() -> AsyncIterator[ParserPool]:
        plugins = PluginConfig(str(tmp_path), timeout_s=1.0)
        async with open_pool(ParserConfig("forager", plugins=json.dumps(plugins)), 1) as pool:
            assert pool is not None
            yield pool

    return opened


async def read(pool: ParserPool, number: int = 0) -> Reading:
    reading = await pool.read(a_fetched(200, PAGE, f"http://a.example/{number}", content_type="text/html"))
    assert reading is not None
    assert reading.title == "A house"
    return reading


@pytest.mark.parametrize("how", HARM)
async def test_harm_costs_the_records_of_the_plugin_only(how: str, tmp_path: Path, open_with: Open) -> None:
    (tmp_path / "harm.py").write_text(f"{HEAD}    {HARM[how]}\n")
    (tmp_path / "good.py").write_text(GOOD)
    async with open_with() as pool:
        reading = await read(pool)
    (error,) = reading.plugin_errors
    if how in RAISED:
        assert (error.plugin, error.hook, error.url) == ("harm", "extract_records", "http://a.example/0")
        assert "harm.py" in error.traceback or "Error" in error.traceback
        assert [record.fields["title"] for record in reading.records] == ["A house"]
        assert reading.records[0].extractor == "good"
    else:
        assert (error.plugin, error.hook) in {("harm", CRASH), (UNKNOWN, CRASH)}
        assert error.plugin == "harm" or how == "kills"
        assert reading.records == ()


async def test_one_that_crashes_again_and_again_is_left_out(tmp_path: Path, open_with: Open) -> None:
    (tmp_path / "harm.py").write_text(f"{HEAD}    {HARM['leaves']}\n")
    (tmp_path / "good.py").write_text(GOOD)
    async with open_with() as pool:
        readings = [await read(pool, number) for number in range(5)]
    assert [len(reading.plugin_errors) for reading in readings] == [1, 1, 1, 0, 0]
    assert "not called any more" in readings[2].plugin_errors[0].error
    assert [record.extractor for record in readings[4].records] == ["good"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("def (", "SyntaxError"),
        ("import not_installed_anywhere  # extract_records", "ModuleNotFoundError"),
        ("raise SystemExit  # extract_records", "SystemExit"),
        (HEAD.replace("page", "pages") + "    return []", "Argument(s)"),
        ("import forager\n@forager.hookimpl\ndef extract_record(page): ...  # extract_records", "unknown hook"),
        ("x = 1  # extract_records", "implements no hook"),
    ],
)
async def test_a_broken_file_stops_nothing(text: str, sentence: str, tmp_path: Path, open_with: Open) -> None:
    (tmp_path / "broken.py").write_text(text + "\n# extract_records\n")
    (tmp_path / "good.py").write_text(GOOD)
    async with open_with() as pool:
        first, second = await read(pool, 1), await read(pool, 2)
    (error,) = first.plugin_errors
    assert (error.plugin, error.hook) == ("broken", IMPORT)
    assert sentence in error.error
    assert not second.plugin_errors
    assert len(second.records) == 1


@pytest.mark.parametrize("harm", ["import os; os._exit(9)", "import time; time.sleep(3600)"])
async def test_an_import_that_ends_the_process_is_left_out(harm: str, tmp_path: Path, open_with: Open) -> None:
    (tmp_path / "broken.py").write_text(f"{harm}  # extract_records\n")
    (tmp_path / "good.py").write_text(GOOD)
    async with open_with() as pool:
        readings = [await read(pool, number) for number in range(4)]
    assert [[error.plugin for error in reading.plugin_errors] for reading in readings] == [["broken"]] * 3 + [[]]
    assert len(readings[3].records) == 1
