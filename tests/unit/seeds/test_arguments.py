"""Where a crawl begins: arguments are refused at once, a list's good lines are taken."""

from pathlib import Path

import pytest

from forager.errors import ConfigurationError, UsageError
from forager.runs.models import Scope
from forager.seeds.commands.arguments import (
    Start,
    check_seed_scope,
    gather,
    is_loopback,
    name_seeds,
    require_contact,
    source_of,
)
from forager.seeds.service import MOST_NAMED


@pytest.mark.parametrize(
    ("seed", "url"),
    [
        ("example.com", "https://example.com/"),
        ("example.com:8080", "https://example.com:8080/"),
        ("example.com/a?b=1", "https://example.com/a?b=1"),
        ("HTTP://Example.com", "http://example.com/"),
        ("127.0.0.1:9000/x", "https://127.0.0.1:9000/x"),
        ("localhost:8000", "https://localhost:8000/"),
        ("[::1]:8000/", "https://[::1]:8000/"),
    ],
)
def test_seeds_become_urls(seed: str, url: str) -> None:
    assert gather([seed], None).seeds == (url,)


@pytest.mark.parametrize(
    "seed", ["", "  ", "word", "mailto:a@b.example", "ftp://a.example/", "http://", "javascript:alert(1)", "a b.c d"]
)
def test_what_is_no_url_is_refused(seed: str) -> None:
    with pytest.raises(UsageError):
        name_seeds([seed])


def test_a_password_is_never_repeated() -> None:
    with pytest.raises(UsageError) as caught:
        gather(["ftp://me:secret@a.example/"], None)
    assert "secret" not in str(caught.value)


def a_list(folder: Path, content: str | bytes) -> str:
    path = folder / "seeds.txt"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def test_a_seed_file(tmp_path: Path) -> None:
    text = "\ufeff# mine\r\n\r\n  a.example  \r\nhttps://b.example/#x\n# https://c.example\nhttps://A.example/\n"
    start = gather(["d.example", "b.example"], a_list(tmp_path, text))
    assert start.seeds == ("https://d.example/", "https://b.example/", "https://a.example/")
    assert [seed.url for seed in start.listed.seeds] == ["https://a.example/"]
    assert start.listed.source == "seeds.txt"


def test_bad_lines_are_remembered_and_the_good_ones_taken(tmp_path: Path) -> None:
    start = gather([], a_list(tmp_path, "a.example\n\nnot a url\n"))
    assert start.seeds == ("https://a.example/",)
    assert [(tally.bad, tally.where(tally.remembered[0])) for tally in start.tallies] == [
        (1, f"line 3 of {tmp_path}/seeds.txt")
    ]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"\xff\xfe\x00", "no UTF-8 text"),
        ("# nothing\n\n", "holds no URL; a list has"),
        ("a b\nc d\n\ne f\n", r"holds no URL: line 1 is bad: .* So are 2 others"),
    ],
)
def test_a_list_without_a_seed_is_refused(tmp_path: Path, content: str | bytes, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        gather([], a_list(tmp_path, content))
    assert gather(["a.example"], a_list(tmp_path, content)).seeds == ("https://a.example/",)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        gather([], str(tmp_path / "missing"))
    with pytest.raises(UsageError, match="is a directory"):
        gather([], str(tmp_path))


def test_nothing_to_crawl() -> None:
    with pytest.raises(UsageError, match="No URL was given"):
        gather([], None)


def a_long_start(folder: Path) -> Start:
    text = "".join(f"{number},host{number}.example\n" for number in range(1, MOST_NAMED + 3))
    return gather(["named.example"], a_list(folder, text))


def test_a_long_list_is_not_named_in_the_order(tmp_path: Path) -> None:
    start = a_long_start(tmp_path)
    assert start.listed.is_long
    assert start.seeds == ("https://named.example/",)
    assert len(start.first) == MOST_NAMED + 1
    assert len(list(start.listed.seeds)) == MOST_NAMED + 2


def test_a_long_list_cannot_be_compared_with_every_page(tmp_path: Path) -> None:
    start = a_long_start(tmp_path)
    for scope in (Scope.PAGE, Scope.PREFIX):
        with pytest.raises(UsageError, match=f"--scope {scope} takes at most 10,000 seeds"):
            check_seed_scope(start, scope, [])
    with pytest.raises(UsageError, match="--include takes at most"):
        check_seed_scope(start, Scope.HOST, ["*"])
    check_seed_scope(start, Scope.HOST, [])
    check_seed_scope(gather(["a.example"], None), Scope.PAGE, ["*"])


def test_the_name_of_a_source() -> None:
    assert [source_of(file) for file in ("-", "lists/top-1m.csv", "top.csv", "/a/b.gz")] == [
        *("stdin", "top-1m.csv", "top.csv", "b.gz")
    ]


@pytest.mark.parametrize(
    ("url", "answer"),
    [
        ("http://127.0.0.1:8000/", True),
        ("http://127.9.9.9/", True),
        ("http://[::1]/", True),
        ("http://localhost/", True),
        ("http://10.0.0.1/", False),
        ("http://127.0.0.1.example/", False),
        ("https://example.com/", False),
    ],
)
def test_loopback(url: str, answer: bool) -> None:
    assert is_loopback(url) is answer


def test_a_foreign_site_needs_a_contact() -> None:
    with pytest.raises(ConfigurationError, match=r"Crawling example.com needs a contact"):
        require_contact(["http://127.0.0.1/", "https://example.com/"], None)
    require_contact(["https://example.com/"], "me@example.com")
    require_contact(["http://127.0.0.1:8000/"], None)


def test_a_typed_password_is_not_lost_silently(capsys: pytest.CaptureFixture[str]) -> None:
    assert gather(["https://me:secret@a.example/x"], None).named == ("https://a.example/x",)
    said = capsys.readouterr().err
    assert "forager domain a.example set --username" in said
    assert "secret" not in said
