"""A log line per request at the level debug, and none at any other."""

import json
from collections.abc import Iterator

import pytest
from tests.integration.fetch.raw_server import http, serve

from forager import logs
from forager.errors import VisitError
from forager.fetch.client import Client

PAGE = b"<title>Hello</title>"


@pytest.fixture(autouse=True)
def restored_logs() -> Iterator[None]:
    yield
    logs.configure()


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


async def test_a_response_is_one_line(client: Client, capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(level="debug", as_json=True)
    logs.about(task=7, domain="a.example")
    async with serve(http(PAGE)) as server:
        await client.get(server.url("/a?token=abc&page=2"))
    (line,) = lines(capsys)
    assert line["url"] == server.url("/a?token=***&page=2")
    assert (line["status"], line["bytes"], line["task"], line["domain"]) == (200, len(PAGE), 7, "a.example")
    assert isinstance(line["ms"], int)
    assert line["action"] == "fetch.response"


async def test_a_failure_is_one_line(client: Client, capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(level="debug", as_json=True)
    with pytest.raises(VisitError):
        await client.get("http://127.0.0.1:9/?api_key=abc")
    (line,) = lines(capsys)
    assert line["action"] == "fetch.failed"
    assert line["error"]
    assert "abc" not in str(line["url"])


@pytest.mark.parametrize("level", ["info", "warning"])
async def test_other_levels_have_no_such_line(client: Client, level: str, capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(level=level)
    async with serve(http(PAGE)) as server:
        await client.get(server.url())
    assert lines(capsys) == []
