"""Crawls that keep the text of pages: stored once, confirmed, exported, shown, checked; whole bodies come later."""

import csv
import json
import sys

import pytest
from tests.acceptance.conftest import OpenWeb
from tests.acceptance.stage import Forager
from tests.integration.storage.kept import home_of, refs_of
from tests.integration.storage.test_kept_bodies import PASS_TIME

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(240)]


def test_texts_of_a_crawl(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("news=6", "docs=6")
    pages, host = web.key.expected_success(), web.hosts[0]
    forager.start(*web.urls, "--delay", "0", "--keep", "text").finish()
    refs = refs_of(forager)
    assert set(refs) == pages
    assert {ref.partition(":")[0] for ref in refs.values()} == {"text"}
    assert forager.value("SELECT count(*) FROM bodies WHERE kind = 'text'") == len(set(refs.values()))
    forager.check(deep=True)

    url = sorted(pages)[-1]
    shown = forager.do("text", url)
    assert shown.startswith("# ")
    assert "](http" in shown
    assert "<p>" in forager.do("text", url, "--format", "html")
    found = json.loads(forager.do("text", url, "--json"))
    assert (found["url"], found["text"].strip()) == (url, shown.strip())

    csv.field_size_limit(sys.maxsize)
    for name in ("pages.jsonl", "pages.csv", "pages.parquet"):
        forager.do("export", "pages", "--with", "text", "-o", name)
    folder = forager.folder
    texts = {row["url"]: row["text"] for row in forager.rows("pages.jsonl")}
    assert texts[url].strip() == shown.strip()
    assert {each for each, text in texts.items() if text} == pages
    with (folder / "pages.csv").open(newline="") as file:
        assert {row["url"]: row["text"] for row in csv.DictReader(file)}[url].strip() == shown.strip()
    assert "Only pages have a text" in forager.run("export", "links", "--with", "text").stderr

    said = forager.run("replay")
    assert said.returncode == 1
    assert "its text, which cannot be parsed again" in said.stderr

    forager.do("domain", host, "set", "--every", "1h")
    forager.ask(PASS_TIME)
    forager.do("refresh", "--delay", "0", "-q", "--keep", "text")
    assert forager.value("SELECT count(*) FROM crawl_tasks WHERE status_code = 304 AND body_ref LIKE 'text:%'") > 0
    first, last = (
        forager.value(
            f"SELECT {each}(id) FROM crawl_tasks WHERE body_ref IS NOT NULL AND page_id ="
            " (SELECT page_id FROM crawl_tasks WHERE status_code = 304 LIMIT 1)"
        )
        for each in ("min", "max")
    )
    same = forager.value("SELECT p.url FROM pages p JOIN crawl_tasks t ON t.page_id = p.id WHERE t.id = $1", first)
    assert first < last
    assert forager.do("text", same, "--against", str(first)) == "", "nothing changed"

    forager.do("domain", host, "set", "--keep", "snapshot")
    forager.ask(PASS_TIME)
    forager.do("refresh", "--delay", "0", "-q")
    kinds = {ref.partition(":")[0] for each, ref in refs_of(forager).items() if each.split("/")[2] == host}
    assert kinds == {"snapshot"}, "a visit asks for the whole page where only its text was stored"
    assert forager.do("text", same, "--against", str(first)) == "", "the text of the body is the text that was stored"
    forager.check(deep=True)

    name = next(iter(refs.values())).partition(":")[2]
    (home_of(forager) / "bodies" / name[:2] / f"{name[2:]}.zst").write_bytes(b"damaged")
    assert "bodies_intact" in forager.run("check", "--deep").stdout


def test_where_no_text_is_stored_the_command_says_so(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("docs=4")
    forager.start(*web.urls, "--delay", "0").finish()
    said = forager.run("text", sorted(web.key.expected_success())[0])
    assert said.returncode == 3
    assert "the content policy is 'signals'" in said.stderr
    assert "set --keep text" in said.stderr
