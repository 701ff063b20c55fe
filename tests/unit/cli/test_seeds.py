from pathlib import Path

import pytest

from forager.cli.seeds import gather, is_loopback, refuse_without_contact
from forager.errors import ConfigurationError, UsageError


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
    assert gather([seed], None) == (url,)


@pytest.mark.parametrize(
    "seed", ["", "  ", "word", "mailto:a@b.example", "ftp://a.example/", "http://", "javascript:alert(1)", "a b.c d"]
)
def test_what_is_no_url_is_refused(seed: str) -> None:
    with pytest.raises(UsageError):
        gather([seed], None)


def test_a_password_is_never_repeated() -> None:
    with pytest.raises(UsageError) as caught:
        gather(["ftp://me:secret@a.example/"], None)
    assert "secret" not in str(caught.value)


def test_a_seed_file(tmp_path: Path) -> None:
    path = tmp_path / "seeds.txt"
    path.write_text(
        "\ufeff# mine\r\n\r\n  a.example  \r\nhttps://b.example/#x\n# https://c.example\nhttps://A.example/\n"
    )
    assert gather(["d.example"], str(path)) == ("https://d.example/", "https://a.example/", "https://b.example/")


def test_a_bad_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "seeds.txt"
    path.write_text("a.example\n\nnot a url\n")
    with pytest.raises(UsageError, match=r"Line 3 of .*seeds.txt"):
        gather([], str(path))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    empty = tmp_path / "empty"
    empty.write_text("# nothing\n\n")
    with pytest.raises(UsageError, match="no UTF-8 text"):
        gather([], str(binary))
    with pytest.raises(UsageError, match="holds no URL"):
        gather([], str(empty))
    with pytest.raises(UsageError, match="no such file"):
        gather([], str(tmp_path / "missing"))
    with pytest.raises(UsageError, match="is a directory"):
        gather([], str(tmp_path))


def test_nothing_to_crawl() -> None:
    with pytest.raises(UsageError, match="No URL was given"):
        gather([], None)


def test_a_hundred_thousand_seeds(tmp_path: Path) -> None:
    path = tmp_path / "seeds.txt"
    path.write_text("".join(f"https://host{number}.example/\n" for number in range(100_000)))
    assert len(gather([], str(path))) == 100_000


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
        refuse_without_contact(["http://127.0.0.1/", "https://example.com/"], None)
    refuse_without_contact(["https://example.com/"], "me@example.com")
    refuse_without_contact(["http://127.0.0.1:8000/"], None)
