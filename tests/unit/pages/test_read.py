"""`forager read` shows everything that is read from a file."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forager.cli.main import run

URL = "http://shop.example/p/kettle"
PAGE = b"""<title>Kettle</title><script type="application/ld+json">
{"@context": "https://schema.org", "@type": "Product",
"name": "Blue kettle", "offers": {"@type": "Offer", "price": "24.50", "priceCurrency": "EUR"}}</script>
<main><p>It boils water. <a href="/p/pan">A pan</a> <a href="http://other.example/">Another shop</a></p></main>"""

Read = Callable[..., str]


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.html"
    path.write_bytes(PAGE)
    return path


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Read:
    monkeypatch.setenv("FORAGER_HOME", str(tmp_path / "home"))

    def call(*arguments: object) -> str:
        assert run(["read", *map(str, arguments), "--url", URL]) == 0
        return capsys.readouterr().out

    return call


def test_json_has_everything(page: Path, read: Read) -> None:
    shown: dict[str, Any] = json.loads(read(page, "--json"))
    assert shown["title"] == "Kettle"
    assert shown["products"][0]["name"] == "Blue kettle"
    assert shown["products"][0]["price"] == "24.50"
    assert {"url": "http://shop.example/p/pan", "anchor": "A pan", "rel": "a"} in shown["links"]
    assert {"headline", "site_name", "section", "tags", "rating", "published_on", "structured_data"} <= shown.keys()


def test_a_person_gets_a_summary(page: Path, read: Read) -> None:
    shown = read(page)
    assert "Blue kettle" in shown
    assert "24.50" in shown
    assert "http://shop.example/p/pan" in shown


def test_standard_input_is_a_file(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(PAGE)))
    assert json.loads(read("-", "--json"))["title"] == "Kettle"


def test_a_scope_leaves_links_out(page: Path, read: Read) -> None:
    shown = json.loads(read(page, "--json", "--scope", "host"))
    assert [link["url"] for link in shown["links"]] == ["http://shop.example/p/pan"]
    assert shown["dropped"] == {"scope": 1}


def test_a_page_cannot_move_the_cursor(page: Path, read: Read) -> None:
    page.write_bytes(b"<title>a\x1b[2Jb</title>")
    assert "\x1b" not in read(page)


def test_no_database_is_started(page: Path, read: Read, tmp_path: Path) -> None:
    read(page)
    assert not (tmp_path / "home" / "postgres").exists()
