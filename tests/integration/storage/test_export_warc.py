"""Stored bodies as one WARC file that standard tools read."""

import os
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import pytest
from tests.acceptance.conftest import NETWORK, OpenWeb
from tests.acceptance.stage import Forager
from tests.integration.storage.kept import home_of
from warcio.archiveiterator import ArchiveIterator

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(240)]


def read(content: bytes) -> dict[str, tuple[str, bytes]]:
    """URL → type and body, every digest verified."""
    found = {}
    for record in ArchiveIterator(BytesIO(content), check_digests="raise"):
        body = record.content_stream().read()
        found[record.rec_headers.get_header("WARC-Target-URI") or "warcinfo"] = record.rec_type, body
    return found


@pytest.mark.parametrize(("policy", "kind"), [("snapshot", "resource"), ("archive", "response")])
def test_every_stored_page_is_in_it(forager: Forager, open_web: OpenWeb, policy: str, kind: str) -> None:
    web = open_web("docs=6", "uniform=1x3")
    forager.start(*web.urls, "--keep", policy, "-o", "out.jsonl", FORAGER_POLITENESS_NO_DELAY_HOSTS=NETWORK).finish()
    ended = forager.run("export", "warc", "-o", "all.warc.gz")
    assert ended.returncode == 0, ended.stderr
    found = read((forager.folder / "all.warc.gz").read_bytes())
    assert found.pop("warcinfo")[0] == "warcinfo"
    assert set(found) == web.key.expected_success()
    assert {word for word, _ in found.values()} <= {kind, "revisit"}
    pages = [body for url, (word, body) in found.items() if word == kind and not url.endswith(".pdf")]
    assert pages
    assert all(b"<html" in body for body in pages)
    assert f"{len(found)} records written to all.warc.gz" in ended.stderr

    gone = sorted((home_of(forager) / "bodies").rglob("*.zst"))[:1]
    for path in gone:
        path.unlink()
    host = web.hosts[1]
    piped = subprocess.run(
        [sys.executable, "-m", "forager", "export", "warc", "-o", "-", "--domain", host],
        env=os.environ | forager.environ,
        cwd=forager.folder,
        capture_output=True,
        check=True,
        timeout=120,
    )
    part = read(piped.stdout)
    part.pop("warcinfo")
    assert {url for url in part if host not in url} == set()
    assert len(part) == sum(host in url for url in found) - len(gone) * (b"could not be read" in piped.stderr)


def test_what_cannot_be_written_is_refused_at_once(forager: Forager, tmp_path: Path) -> None:
    for arguments, word in (
        (("-o", "all.warc"), "ends with .warc.gz"),
        ((), "ends with .warc.gz"),
        (("-o", "all.warc.gz", "--format", "csv"), "leave --format"),
        (("-o", str(tmp_path / "no/such/x.warc.gz")), "no"),
    ):
        ended = forager.run("export", "warc", *arguments)
        assert ended.returncode == 2, arguments
        assert word in ended.stderr
