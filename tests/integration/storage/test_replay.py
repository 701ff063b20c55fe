"""`forager replay`: stored bodies read again without a request; killed and resumed; into the live tables or beside."""

import json

import pytest
from tests.acceptance.conftest import NETWORK, OpenWeb
from tests.acceptance.stage import Forager, Web, until
from tests.integration.storage.kept import HISTORY, assert_readable
from tests.integration.storage.static_site import HOST, serve_answers
from tests.starter import PROGRAM

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(240)]

SIGNALS = """SELECT md5(string_agg(concat_ws('|', url, status, fetched_at, title, description, language, content_hash,
             links_count, etag, last_modified, simhash, flags, keywords_tsv, comparisons), '~' ORDER BY id))
             FROM pages"""
EDGES = "SELECT md5(string_agg(l::text, '~' ORDER BY from_page_id, position)) FROM page_links l"


def crawl(forager: Forager, web: Web, policy: str = "snapshot") -> None:
    forager.start(*web.urls, "--delay", "0", "--keep", policy).finish()


@pytest.fixture
def quiet(open_web: OpenWeb) -> Web:
    """A web that must not be asked again once it was crawled."""
    return open_web("shop=12", "docs=8")


@pytest.mark.parametrize("policy", ["snapshot", "archive"])
def test_a_replay_fills_a_new_field_for_the_past_without_a_request(forager: Forager, quiet: Web, policy: str) -> None:
    crawl(forager, quiet, policy)
    before, edges, history, asked = (
        forager.value(SIGNALS),
        forager.value(EDGES),
        forager.value(HISTORY),
        len(quiet.everything()),
    )
    described = forager.value("SELECT count(*) FROM pages WHERE description IS NOT NULL")
    assert described > 10
    forager.ask("UPDATE pages SET description = NULL")
    told = json.loads(forager.do("replay", "--json"))
    assert told["tally"]["fields"]["description"] == {"gained": described}
    assert told["tally"]["written"] == told["stored"]["pages"] == told["tally"]["pages"]
    assert forager.value(SIGNALS) == before
    assert forager.value(EDGES) == edges
    assert forager.value(HISTORY) == history
    assert len(quiet.everything()) == asked
    forager.check()


def test_links_are_recorded_as_from_a_fresh_page(forager: Forager, quiet: Web) -> None:
    crawl(forager, quiet)
    edges = forager.value(EDGES)
    forager.ask(
        "DELETE FROM page_link_lists WHERE from_page_id IN (SELECT page_id FROM crawl_tasks WHERE body_ref IS NOT NULL)"
    )
    assert forager.run("check").returncode == 1
    forager.do("replay")
    assert forager.value(EDGES) == edges
    forager.check()


def test_a_shadow_leaves_the_live_tables_alone(forager: Forager, quiet: Web) -> None:
    crawl(forager, quiet)
    (host, *_) = quiet.hosts
    forager.ask("UPDATE pages SET title = 'old' WHERE url = $1", f"http://{host}/")
    before = forager.value(SIGNALS)
    told = json.loads(forager.do("replay", "--shadow", "--domain", host, "--json"))
    assert told["tally"]["fields"] == {"title": {"changed": 1}}
    assert forager.value(SIGNALS) == before
    (row,) = forager.ask("SELECT fields, old, new FROM replay_readings")
    assert row["fields"] == ["title"]
    assert json.loads(row["old"]) == {"title": "old"}
    assert json.loads(row["new"])["title"]
    shown = forager.do("replay", "--shadow", "--domain", host)
    assert "old → " in shown
    amazon = json.loads(forager.do("replay", "--shadow", "--domain", host, "--parser", "amazon", "--json"))
    assert amazon["tally"]["fields"]["product.name"]["lost"] > 0


SHOWN = """SELECT md5(string_agg(concat_ws('|', p.url, i.url, s.position, s.discovery_type, s.image_type, s.alt_text,
           s.width, s.height, s.last_seen_at), '~' ORDER BY p.url, s.position)) FROM page_images s
           JOIN pages p ON p.id = s.page_id JOIN images i ON i.id = s.image_id"""


def test_images_nobody_looked_for_are_found_in_stored_bodies(forager: Forager, open_web: OpenWeb) -> None:
    """As a crawl would have found them; wanted, they wait for a visit, and no page is asked for again."""
    web = open_web("gallery=6")
    (host,) = web.hosts
    forager.start(*web.urls, "--delay", "0", "--keep", "snapshot", FORAGER_IMAGES_POLICY="none").finish()
    asked = len(web.everything())
    assert forager.value("SELECT count(*) FROM page_images") == 0
    compared = json.loads(forager.do("replay", "--shadow", "--json"))["tally"]["fields"]
    assert set(compared) == {"images.count", "images.primary", "images.urls", "images.alts"}
    assert compared["images.urls"]["gained"] > 6
    assert forager.value("SELECT count(*) FROM images") == 0

    told = json.loads(forager.do("replay", "--json"))["tally"]
    assert told["fields"] == compared
    dated = forager.value(
        "SELECT bool_and(s.first_seen_at <= p.fetched_at) FROM page_images s JOIN pages p ON p.id = s.page_id"
    )
    assert dated, "it was there when the page was visited"
    assert forager.value("SELECT max(i.first_seen_at) <= max(p.fetched_at) FROM images i, pages p")
    forager.check()
    assert json.loads(forager.do("replay", "--json"))["tally"]["fields"] == {}, "nothing is left to find"
    assert len(web.everything()) == asked
    by_replay = forager.value(SHOWN)

    forager.do("domain", host, "set", "--images", "download")
    assert forager.value("SELECT count(*) FROM pages WHERE is_image AND status = 'discovered'") == 12
    assert len(web.everything()) == asked
    forager.ask("DELETE FROM page_images")
    forager.ask("UPDATE domains SET images_found = 0")
    forager.do("replay")
    assert forager.value(SHOWN) == by_replay
    forager.check()


def test_an_image_that_is_not_read_any_more_has_an_end(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("gallery=6")
    forager.start(*web.urls, "--delay", "0", "--keep", "snapshot").finish()
    by_crawl, found = forager.value(SHOWN), forager.value("SELECT images_found FROM domains")
    (page, domain) = forager.ask("SELECT page_id, domain_id FROM page_images ORDER BY page_id LIMIT 1")[0]
    forager.ask(
        "WITH image AS (INSERT INTO images (domain_id, url, url_hash)"
        " VALUES ($2, 'http://wrong.example/i.png', substr(sha256('http://wrong.example/i.png'), 1, 16)) RETURNING id)"
        " INSERT INTO page_images (domain_id, page_id, image_id, position, discovery_type, image_type, alt_text)"
        " SELECT $2, $1, id, 99, 'img', 'gallery', 'old words' FROM image",
        page,
        domain,
    )
    forager.ask("UPDATE domains SET images_found = images_found + 1")
    forager.ask("UPDATE page_images SET alt_text = 'old words' WHERE page_id = $1", page)
    told = json.loads(forager.do("replay", "--json"))["tally"]
    assert told["fields"]["images.urls"] == told["fields"]["images.count"] == {"changed": 1}
    assert told["examples"]["images.alts"][0]["old"][0] == "old words"
    (wrong,) = forager.ask("SELECT last_seen_at FROM page_images WHERE position = 99")
    assert wrong["last_seen_at"] == forager.value("SELECT fetched_at FROM pages WHERE id = $1", page)
    forager.ask("DELETE FROM page_images WHERE position = 99")
    forager.ask("UPDATE domains SET images_found = images_found - 1")
    assert forager.value(SHOWN) == by_crawl
    assert forager.value("SELECT images_found FROM domains") == found
    forager.check()


SOLD = """SELECT string_agg(concat_ws('|', product_name, price, is_listed, crawl_task_id, url), '~' ORDER BY url)
          FROM products"""


def test_products_of_lists_are_found_in_stored_bodies(forager: Forager) -> None:
    """As of the visit to the list; the product's own page has the last word."""
    cards = [
        {
            "@type": "Product",
            "name": f"Pot {at}",
            "url": f"/p/{at}",
            "offers": {"price": f"{at}.50", "priceCurrency": "EUR"},
        }
        for at in (1, 2)
    ]
    markup = f'<script type="application/ld+json">{json.dumps(cards)}</script>'
    page = f"<title>Pots</title>{markup}<h1>Pots</h1><a href=/p/1>1</a><a href=/p/2>2</a>".encode()
    html = [("Content-Type", "text/html")]
    with serve_answers(
        {"/": (200, html, page), "/p/1": (200, html, b"<p>a pot"), "/p/2": (200, html, b"<p>a pot")}
    ) as site:
        forager.start(site.url, "--delay", "0", "--keep", "snapshot", "--allow-network", f"{HOST}/32").finish()
        by_crawl, asked = forager.value(SOLD), len(site.asked)
        assert by_crawl.count("|1.5000|t|") == by_crawl.count("|2.5000|t|") == 1
        forager.ask("DELETE FROM product_prices")
        forager.ask("DELETE FROM products")
        forager.do("replay")
        assert forager.value(SOLD) == by_crawl
        dated = (
            "SELECT bool_and(last_seen_at = completed_at) FROM products p JOIN crawl_tasks t ON t.id = crawl_task_id"
        )
        assert forager.value(dated)
        forager.do("replay")
        assert forager.value("SELECT count(*) FROM product_prices") == 2, "nothing changed since"
        assert len(site.asked) == asked
    forager.check()


def test_a_dry_run_only_counts(forager: Forager, quiet: Web) -> None:
    crawl(forager, quiet)
    pages = len(quiet.key.expected_success())
    assert json.loads(forager.do("replay", "--dry-run", "--json")) == {"pages": pages, "deleted": 0, "domains": 2}
    assert json.loads(forager.do("replay", "--dry-run", "--url", quiet.urls[0], "--json"))["pages"] == 1
    assert json.loads(forager.do("replay", "--dry-run", "--since", "1d", "--json"))["pages"] == pages
    none = forager.run("replay", "--dry-run", "--until", "1d")
    assert none.returncode == 1
    assert "in this span" in none.stderr
    assert forager.value("SELECT count(*) FROM replays") == 0


NO_PARSER = """import os, sys
if "forager.engine.parser_server" in sys.orig_argv:
    sys.stderr.write("no such module")
    sys.stderr.flush()
    os._exit(3)
"""


def test_a_replay_says_why_a_page_that_crashed_cannot_be_read_apart(forager: Forager, open_web: OpenWeb) -> None:
    crawl(forager, open_web("docs=4"))
    stored = "SELECT min(page_id) FROM crawl_tasks WHERE body_ref IS NOT NULL"
    forager.ask(f"UPDATE pages SET crashes = 1 WHERE id = ({stored})")
    (forager.folder / "sitecustomize.py").write_text(NO_PARSER)
    forager.program = (str(PROGRAM),)
    ended = forager.spawn("replay", PYTHONPATH=str(forager.folder))
    assert ended.process.wait(60) == 1
    assert "no parser process starts: exit code 3: no such module" in ended.said
    told = json.loads(forager.do("replay", "--json"))
    assert told["tally"]["pages"] == told["stored"]["pages"]


def test_a_killed_replay_goes_on_where_it_was(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("uniform=8x80")
    forager.start(*web.urls, "--keep", "snapshot", FORAGER_POLITENESS_NO_DELAY_HOSTS=NETWORK).finish()
    forager.ask("UPDATE pages SET title = NULL")
    replay = forager.spawn("replay")
    until(lambda: forager.value("SELECT COALESCE(max(after_page), 0) FROM replays") > 0, "a portion is done")
    replay.kill_all()
    done = json.loads(forager.value("SELECT tally FROM replays"))["pages"]
    forager.check()
    told = json.loads(forager.do("replay", "--json"))
    assert told["tally"]["pages"] == told["stored"]["pages"] == len(web.key.expected_success())
    assert told["is_resumed"] == (done < len(web.key.expected_success()))
    assert forager.value("SELECT count(*) FROM pages WHERE status = 'fetched' AND title IS NULL") == 0
    assert forager.value("SELECT count(*) FROM replays WHERE status = 'running'") == 0
    assert_readable(forager)
    forager.check()


def test_one_task_is_parsed_again(forager: Forager, quiet: Web) -> None:
    crawl(forager, quiet)
    url = quiet.urls[0]
    task = forager.value("SELECT t.id FROM crawl_tasks t JOIN pages p ON p.id = t.page_id WHERE p.url = $1", url)
    forager.ask("UPDATE pages SET title = NULL")
    told = json.loads(forager.do("replay", "--task", str(task), "--json"))
    assert told["tally"]["written"] == 1
    assert forager.ask("SELECT url FROM pages WHERE title IS NOT NULL")[0]["url"] == url
    assert forager.run("replay", "--task", "999999").returncode == 3


def test_a_page_that_was_visited_since_is_left_alone(forager: Forager, quiet: Web) -> None:
    crawl(forager, quiet)
    (host, *_) = quiet.hosts
    forager.do("domain", host, "set", "--keep", "signals")
    forager.do("domain", host, "reset")
    forager.ask("UPDATE pages SET etag = NULL, last_modified = NULL")
    forager.start(*quiet.urls, "--delay", "0").finish()
    forager.ask("UPDATE pages SET title = 'newer' WHERE url LIKE $1", f"http://{host}/%")
    told = json.loads(forager.do("replay", "--domain", host, "--json"))
    assert told["tally"]["written"] == 0
    assert told["tally"]["left"] == {"newer_visit": told["stored"]["pages"]}
    assert forager.value("SELECT count(*) FROM pages WHERE title = 'newer'") > 0


def test_pages_are_queued_again_instead(forager: Forager, quiet: Web) -> None:
    crawl(forager, quiet, "signals")
    (host, *_) = quiet.hosts
    waiting = "SELECT count(*) FROM crawl_tasks WHERE outcome IS NULL"
    would = json.loads(forager.do("replay", "--refetch", "--dry-run", "--domain", host, "--json"))["pages"]
    assert would > 5
    assert forager.value(waiting) == 0
    assert json.loads(forager.do("replay", "--refetch", "--domain", host, "--json"))["pages"] == would
    assert forager.value(waiting + " AND priority = 2") == would
    forager.check()
    asked = len(quiet.visits())
    forager.do("refresh", "--delay", "0", "-q")
    assert len(quiet.visits()) == asked + would
    forager.check()


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("--parser", "nobody"), 2, "There is no parser 'nobody'"),
        (("--domain", "nobody.example"), 3, "There is no domain"),
        (("--since", "soon"), 2, "is no time"),
        (("--refetch", "--shadow"), 2, "--refetch visits pages again"),
        (("--task", "1", "--url", "http://a.example/"), 2, "--task names its page already"),
    ],
)
def test_bad_orders_get_one_sentence(forager: Forager, arguments: tuple[str, ...], code: int, sentence: str) -> None:
    ended = forager.run("replay", *arguments)
    assert ended.returncode == code, ended.stderr
    assert sentence in ended.stderr
    assert ended.stderr.count("\n") == 1
