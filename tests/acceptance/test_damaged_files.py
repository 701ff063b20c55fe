"""Files of the database that a disk damaged or lost are called what they are, with the way to a backup."""

from pathlib import Path

import pytest
from tests.acceptance.stage import Forager

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(120)]


def file_of(forager: Forager, home: Path, relation: str) -> Path:
    """Where the blocks of a table or index are; the server is stopped when this returns."""
    forager.do("db", "start")
    found: str = forager.value("SELECT pg_relation_filepath($1::regclass)", relation)
    forager.do("db", "stop", "--force")
    return home / "postgres" / found


@pytest.mark.parametrize("how", ["changed", "gone"])
def test_damaged_files_are_no_bug_of_ours(own_forager: Forager, home: Path, how: str) -> None:
    own_forager.do("seed", "http://a.example/", "http://b.example/")
    path = file_of(own_forager, home, "pages")
    if how == "changed":
        content = bytearray(path.read_bytes())
        content[4096:8192] = bytes(4096)
        path.write_bytes(bytes(content))
    else:
        path.unlink()
    listed = own_forager.run("pages")
    assert listed.returncode == 8, listed.stdout + listed.stderr
    for word in ("files of the database are damaged", "forager restore BACKUP"):
        assert word in listed.stderr
    checked = own_forager.run("check")
    assert checked.returncode == 1, checked.stderr
    assert "The files of the database are damaged" in " ".join(checked.stdout.split())
    assert "forager restore BACKUP" in checked.stdout
    assert "bug of ours" not in listed.stderr + checked.stderr
    crawled = own_forager.run("crawl", "http://a.example/", "--contact", "a@b.example", FORAGER_CRAWL_MAX_WAIT="1")
    assert "bug of ours" not in crawled.stderr, crawled.stderr
    assert "files of the database are damaged" in crawled.stderr
