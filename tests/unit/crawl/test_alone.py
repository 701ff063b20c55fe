"""A page read in a process of its own gives the same reading; a reader that dies is an error and harms nobody else."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.builders import a_fetched

from forager import extract
from forager.crawl.alone import read_alone
from forager.errors import ParserCrashError

PAGE = (
    "<html lang=de><title>Grüße \U0001f600</title><meta name=robots content=noindex><h1>Kopf</h1>"
    "<a href=/a rel=nofollow>eins</a><a href=/b>zwei</a><p>Ein paar Wörter.</p>"
).encode()

CRASHER = """
import os
from forager import extract
from forager.extract import page

def read(fetched, **_how):
    {end}

extract.read = page.read = read
"""


@pytest.fixture
def break_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Processes that start from now on have a reader that ends so."""

    def arrange(end: str) -> None:
        (tmp_path / "sitecustomize.py").write_text(CRASHER.format(end=end))
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    return arrange


async def test_the_reading_is_that_of_the_sanitised_page() -> None:
    fetched = a_fetched(200, PAGE, content_type="text/html; charset=utf-8", x_robots_tag="nofollow")
    apart = await read_alone(fetched, keyword_words=50, robots_agent="Forager")
    assert apart == extract.read(fetched, keyword_words=50, robots_agent="Forager", is_sanitized=True)


@pytest.mark.parametrize("end", ["os.kill(os.getpid(), 9)", "os.abort()", "os._exit(1)", "bytes(4 * 1024**3)", "1 / 0"])
async def test_a_reader_that_dies_is_a_parser_crash(break_reader: Callable[[str], None], end: str) -> None:
    break_reader(end)
    with pytest.raises(ParserCrashError, match="killed its reader again"):
        await read_alone(a_fetched(200, PAGE), keyword_words=50, robots_agent="Forager")


async def test_a_reader_that_does_not_end_is_ended(
    break_reader: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("forager.crawl.alone.LONGEST_S", 3.0)
    break_reader("__import__('time').sleep(600)")
    with pytest.raises(ParserCrashError, match="kept its reader"):
        await read_alone(a_fetched(200, PAGE), keyword_words=50, robots_agent="Forager")
