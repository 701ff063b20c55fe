"""The webs of the benchmark are served by processes of their own."""

import gzip
import urllib.request
from pathlib import Path

import brotli  # type: ignore[import-untyped]
import pytest
from bench.web import LIFELIKE, serve_saved, serve_web

from forager.errors import UsageError


def fetch(url: str) -> tuple[str, bytes]:
    """The coding of the answer and its decoded body."""
    request = urllib.request.Request(url, headers={"Accept-Encoding": "gzip, br"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        coding, body = answer.headers.get("Content-Encoding", ""), answer.read()
    return coding, {"gzip": gzip.decompress, "br": brotli.decompress}.get(coding, bytes)(body)


def test_a_folder_is_served_with_an_index_on_every_address(tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / f"{number}.html").write_text(f"<head><title>Page {number}</title></head>" + "text " * 100)
    with serve_saved(tmp_path) as web:
        assert not web.is_exact
        assert len(web.sites) == 8
        found: dict[str, tuple[str, bytes]] = {}
        for site in web.sites:
            assert b"/p/1" in fetch(site.seed)[1]
            found |= {url: fetch(url) for url in site.urls if url != site.seed}
        assert len(found) == 12
        assert {coding for coding, _ in found.values()} == {"gzip", "br"}
        assert all(b"<base" in body for _, body in found.values())
        assert web.cpu_s() > 0


def test_a_folder_without_pages_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no saved pages"), serve_saved(tmp_path):
        pass


def test_the_lifelike_web_is_served_as_it_is_listed() -> None:
    with serve_web(2, 4, name=LIFELIKE) as web:
        assert [len(site.urls) for site in web.sites] == [4, 4]
        for site in web.sites:
            assert all(len(fetch(url)[1]) > 10_000 for url in site.urls)
