"""`forager reindex` and the job as a person meets them, with a server that answers."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forager.cli.main import run


@pytest.fixture
def forager(
    mirror: Any, database_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., Any]:
    for name, value in {
        "DATABASE_URL": database_url,
        "HOME": str(tmp_path),
        "SEARCH_BACKEND": "opensearch",
        "SEARCH_URL": mirror.gate.url,
        "SEARCH_INDEX_PREFIX": mirror.names.prefix,
    }.items():
        monkeypatch.setenv(f"FORAGER_{name}", value)

    async def call(*arguments: str) -> tuple[int, str, str]:
        code = await asyncio.to_thread(run, arguments)
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return code, said.out, said.err

    return call


async def test_from_a_new_index_to_leaving_the_server(mirror: Any, forager: Any) -> None:
    code, _, err = await forager("reindex")
    assert (code, "this command sent 8 documents and 0 changes" in err) == (0, True)
    await mirror.add("http://a.example/late", "Late tea", "tea that came late")
    await mirror.index()
    code, out, _ = await forager("reindex", "--status", "--json")
    told = json.loads(out)
    assert (code, told["has_live"], told["is_building"], told["waiting"]) == (0, True, False, 1)
    code, out, err = await forager("schedule", "run", "search_server", "--once")
    assert (code, "1 change sent" in out + err) == (0, True)
    assert await mirror.agrees()
    code, out, _ = await forager("search", "late", "--json")
    found = json.loads(out)
    assert (code, found["total"], found["note"]) == (0, 1, None)
    code, _, err = await forager("reindex", "--off")
    assert (code, "no search server any more" in err) == (0, True)
    assert await mirror.server.tell("GET", f"/{mirror.names.prefix}*") == {}
    code, out, err = await forager("search", "late")
    assert (code, "http://a.example/late" in out) == (0, True)
    assert "no index yet" in err


async def test_flags_that_exclude_each_other_are_told(forager: Any) -> None:
    code, _, err = await forager("reindex", "--anew", "--off")
    assert (code, "exclude each other" in err) == (2, True)
