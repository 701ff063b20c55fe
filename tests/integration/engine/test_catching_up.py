"""A worker that comes to a domain of many known pages does not ask for each of them."""

import pytest
from tests.builders import a_discovery
from tests.ground import Ground
from tests.writers import open_writer

from forager.db.database import Database
from forager.engine.writer import Writer
from forager.frontier import store
from forager.frontier.cache_warm_up import KeyRange
from forager.frontier.url_set import DEEPEST, SLOT
from forager.urls.normalize import url_key

pytestmark = pytest.mark.both_servers

PAGES = 3000
FILL = """
INSERT INTO pages (domain_id, url, url_hash, depth, priority, is_image)
SELECT $1, url, substring(sha256(convert_to(url, 'UTF8')) FROM 1 FOR 16), 2, 5, $3
FROM (SELECT $2 || n AS url FROM generate_series(1, $4::int) n) made
"""


def a_writer(database: Database, run: int) -> Writer:
    return open_writer(database, run, known_urls=100_000)


async def test_after_some_links_the_whole_domain_is_known(ground: Ground, database: Database) -> None:
    domain = await ground.a_domain("a.example")
    await ground.conn.execute(FILL, domain, "http://a.example/", False, PAGES)
    writer, asked = a_writer(database, await ground.a_run()), 0
    for start in range(1, PAGES, 100):
        links = [a_discovery(f"http://a.example/{number}", 3) for number in range(start, start + 100)]
        learned = await writer.learn(links)
        assert set(learned.page_ids) == {link.key for link in links}
        assert learned.new == {}
        asked += sum(learned.found.values())
    assert PAGES / 10 < asked < PAGES / 3
    truth = await ground.conn.fetch("SELECT id, url_hash FROM pages")
    known = await writer.learn([a_discovery(f"http://a.example/{number}", 3) for number in range(1, PAGES + 1)])
    assert known.page_ids == {row["url_hash"]: row["id"] for row in truth}


async def test_portions_are_in_order_and_leave_images_out(ground: Ground) -> None:
    one, two = await ground.a_domain("a.example"), await ground.a_domain("b.example")
    await ground.conn.execute(FILL, one, "http://a.example/", False, 50)
    await ground.conn.execute(FILL, one, "http://a.example/picture/", True, 50)
    await ground.conn.execute("UPDATE pages SET depth = 2000 WHERE url = 'http://a.example/7'")
    keys, after = list[bytes](), b""
    while True:
        portions = [KeyRange(one, after, 20), KeyRange(two, b"", 20)]
        entries, nothing = await store.next_pages(ground.conn, portions)
        assert nothing == b""
        keys += [entries[at : at + 16] for at in range(0, len(entries), SLOT)]
        if len(entries) < 20 * SLOT:
            break
        after = keys[-1]
    assert keys == sorted(url_key(f"http://a.example/{number}") for number in range(1, 51))
    (entries, _) = await store.next_pages(ground.conn, [KeyRange(one, b"", 99), KeyRange(two, b"", 9)])
    deep = await ground.conn.fetchrow("SELECT id, url_hash FROM pages WHERE depth = 2000")
    at = entries.index(deep["url_hash"])
    assert int.from_bytes(entries[at + 16 : at + SLOT], "big") == deep["id"] << 10 | DEEPEST
