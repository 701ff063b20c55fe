"""`forager text FILE` writes Markdown; a diff of two texts is bounded."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from forager.cli.main import run
from forager.pages.text import MOST_LINES, diff

PAGE = b"<title>T</title><h1>Kettle \x1b[2J</h1><p>It <b>boils</b> <a href=/p>water</a> <a href=http://o.example/>o</a>"
MARKDOWN = "# Kettle [2J\n\nIt **boils** [water](http://a.example/p) [o](http://o.example/)\n"


@pytest.fixture
def text(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Callable[..., str]:
    monkeypatch.setenv("FORAGER_HOME", str(tmp_path / "home"))
    (tmp_path / "page.html").write_bytes(PAGE)
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> str:
        assert run(["text", *arguments]) == 0
        return capsys.readouterr().out

    return call


def test_a_file_is_written_as_markdown(text: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    shown = text("page.html", "--url", "http://a.example/x").replace("\\[", "[")
    assert shown == MARKDOWN
    assert "\x1b" not in shown
    assert text("page.html").endswith("It **boils** water [o](http://o.example/)\n"), "without an address"
    assert text("page.html", "--format", "text").endswith("\nIt boils water o\n")
    assert "<strong>boils</strong>" in text("page.html", "--format", "html")
    assert json.loads(text("page.html", "--json"))["text"].startswith("# Kettle")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"plain *text*")))
    assert text("-", "--content-type", "text/plain") == "plain \\*text\\*\n"


def test_a_diff_is_unified_and_bounded() -> None:
    assert diff("a\nb", "a\nc", ("old", "new")) == "--- old\n+++ new\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
    assert diff("a", "a", ("old", "new")) == ""
    long = diff("", "\n".join(map(str, range(MOST_LINES * 3))), ("old", "new"))
    assert len(long.splitlines()) < MOST_LINES + 10
    assert "The rest is not compared." in long
