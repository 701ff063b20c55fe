"""What tests ask about bodies that a crawl kept."""

from pathlib import Path

from tests.acceptance.stage import Forager

from forager.parsing import page as parser
from forager.storage.body_store import open_store

REFS = """SELECT t.id, p.url, t.body_ref, encode(p.content_hash, 'hex') AS hash, t.status_code
          FROM crawl_tasks t JOIN pages p ON p.id = t.page_id WHERE t.body_ref IS NOT NULL ORDER BY t.id"""
HISTORY = "SELECT md5(string_agg(t::text, '' ORDER BY t.id)) FROM crawl_tasks t WHERE outcome IS NOT NULL"


def refs_of(forager: Forager) -> dict[str, str]:
    """URL → the body of its newest visit."""
    return {row["url"]: row["body_ref"] for row in forager.ask(REFS)}


def home_of(forager: Forager) -> Path:
    return Path(forager.environ["FORAGER_HOME"])


def assert_readable(forager: Forager) -> int:
    """Every ref leads to the body its page was read from; answers how many there are."""
    rows = forager.ask(REFS)
    with open_store(home_of(forager)) as body_store:
        for row in rows:
            reading = parser.read(body_store.load(row["body_ref"], row["url"]), keyword_words=10)
            assert reading.content_hash.hex() == row["hash"], row["url"]
    return len(rows)
