"""Secrets come from files and prompts, and errors never repeat them."""

from pathlib import Path

import pytest

from forager.domains.commands.secrets_input import (
    collect_secrets,
    read_cookie_file,
    read_header_file,
    read_pairs,
    read_secret,
)
from forager.errors import UsageError

COOKIES = """# Netscape HTTP Cookie File
#HttpOnly_.shop.example\tTRUE\t/\tTRUE\t0\tsid\tabc=1
www.shop.example\tFALSE\t/\tFALSE\t4102444800\tlang\tde
.other.example\tTRUE\t/\tFALSE\t0\tsid\tfor-others
shop.example\tFALSE\t/\tFALSE\t10\told\tgone
"""


def a_file(folder: Path, text: str) -> str:
    path = folder / "secrets"
    path.write_text(text)
    return str(path)


def test_cookies_of_the_site_are_taken_from_a_file(tmp_path: Path) -> None:
    path = a_file(tmp_path, COOKIES)
    assert read_cookie_file(path, "shop.example", now_s=1000) == {"sid": "abc=1", "lang": "de"}
    assert read_cookie_file(path, "other.example", now_s=1000) == {"sid": "for-others"}
    with pytest.raises(UsageError, match=r"no cookie for third\.example: 4 of other sites, 0 expired"):
        read_cookie_file(path, "third.example", now_s=1000)


def test_a_cookie_of_a_public_suffix_is_for_nobody(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        read_cookie_file(a_file(tmp_path, ".co.uk\tTRUE\t/\tFALSE\t0\tsid\tx\n"), "shop.co.uk", now_s=0)


def test_headers_from_a_file(tmp_path: Path) -> None:
    assert read_header_file(a_file(tmp_path, "# ours\nX-Key: a: b\n\nAccept: text/html\n")) == {
        "X-Key": "a: b",
        "Accept": "text/html",
    }


def test_values_of_fields_from_files(tmp_path: Path) -> None:
    path = a_file(tmp_path, "pa=ss\n")
    assert read_pairs(["user=alice", f"pw=@{path}"], "field") == {"user": "alice", "pw": "pa=ss"}


def test_all_flags_together(tmp_path: Path) -> None:
    path = a_file(tmp_path, COOKIES)
    found = collect_secrets(
        "shop.example", {"cookies": {path: ""}, "headers": {"A": "1"}}, header=["B: 2"], token_file=path, now_s=1000
    )
    assert found["cookies"] == {"sid": "abc=1", "lang": "de"}
    assert found["headers"] == {"A": "1", "B": "2"}


def test_errors_repeat_no_secret(tmp_path: Path) -> None:
    for broken in (
        lambda: read_header_file(a_file(tmp_path, "s3cret\n")),
        lambda: read_cookie_file(a_file(tmp_path, "s3cret\n"), "a.example", now_s=0),
        lambda: read_pairs(["=s3cret"], "cookie"),
        lambda: read_secret(a_file(tmp_path, ""), "password"),
    ):
        with pytest.raises(UsageError) as found:
            broken()
        assert "s3cret" not in str(found.value).replace(str(tmp_path), "")
