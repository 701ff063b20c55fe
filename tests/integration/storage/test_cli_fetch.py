"""`forager fetch`: one page through the whole line, without a database, guarded as a crawl is."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.integration.storage.static_site import Answers, StaticSite, serve_answers

from forager.cli.main import run

pytestmark = pytest.mark.timeout(120)

Fetch = Callable[..., tuple[int, str, str]]
PRODUCT = {"@type": "Product", "name": "Kettle", "offers": {"price": "12.50", "priceCurrency": "EUR"}}
PAGE = f"""<html lang="de-AT"><title>Ein Kessel</title><meta name="description" content="Blau.">
<script type="application/ld+json">{json.dumps(PRODUCT)}</script><h1>Kessel</h1>
<p>Dieser Kessel ist blau und kocht Wasser schneller als jeder andere Kessel in diesem Haus.</p>
<a href="/a">Eins</a><a href="/b" rel="nofollow">Zwei</a><a href="mailto:x">Post</a><img src="/k.png">""".encode()
HOSTILE = b"<title>\x1b[2Jgone\xe2\x80\xae</title><a href='/\x1b]0;x'>\x1b[31mred</a>"
ANSWERS: Answers = {
    "/robots.txt": (200, [], b"User-agent: *\nCrawl-delay: 2\nDisallow: /secret\n"),
    "/": (200, [("Content-Type", "text/html"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")], PAGE),
    "/old": (301, [("Location", "/older")], b""),
    "/older": (302, [("Location", "/")], b""),
    "/to-secret": (302, [("Location", "/secret")], b""),
    "/to-private": (302, [("Location", "http://10.0.0.1/")], b""),
    "/loop": (302, [("Location", "/loop?again")], b""),
    "/loop?again": (302, [("Location", "/loop")], b""),
    "/hostile": (200, [("Content-Type", "text/html"), ("X-Evil", "\x1b[31mred")], HOSTILE),
    "/gone": (404, [("Content-Type", "text/html")], b"no"),
}


@pytest.fixture
def site() -> Iterator[StaticSite]:
    with serve_answers(ANSWERS) as served:
        yield served


@pytest.fixture
def fetch(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Fetch:
    monkeypatch.setenv("FORAGER_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("FORAGER_FETCH_ALLOW_NETWORKS", "127.0.0.9/32")
    monkeypatch.setenv("FORAGER_CONTACT", "test@a.example")

    def call(*arguments: str) -> tuple[int, str, str]:
        code = run(["fetch", *arguments])
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        assert not (tmp_path / "home").exists(), "it needs no database"
        return code, said.out, said.err

    return call


def test_a_page_is_shown(fetch: Fetch, site: StaticSite) -> None:
    code, out, _ = fetch(site.url, "--headers")
    assert code == 0
    lines = {line[:13].rstrip(): line[14:] for line in out.splitlines()}
    assert lines["200"] == f"{site.url}/"
    assert lines["robots.txt"] == "allowed, asks for 2 s between requests"
    assert lines["time"].count(" ms") == 1
    assert (lines["title"], lines["description"]) == ("Ein Kessel", "Blau.")
    assert lines["language"].startswith("de-AT (declared; its text looks like de")
    assert lines["product"].startswith("Kettle")
    assert "jsonld" in lines["  price"]
    assert lines["links"] == "1 of 2 found (left out: 1 nofollow)"
    assert lines["images"] == "1"
    assert out.count("Set-Cookie: ") == 2
    assert "> GET / HTTP/1.1" in " ".join(out.split())
    assert site.asked == ["/robots.txt", "/"]


def test_all_of_it_as_json(fetch: Fetch, site: StaticSite, tmp_path: Path) -> None:
    code, out, _ = fetch(site.url, "--json", "--body", str(tmp_path / "page.html"))
    found = json.loads(out)
    assert (code, found["url"], found["status_code"], found["error"]) == (0, f"{site.url}/", 200, None)
    assert found["reading"]["title"] == "Ein Kessel"
    assert found["reading"]["product"]["evidence"]["price"]
    assert [link["url"] for link in found["links"]] == [f"{site.url}/a"]
    assert found["dropped"] == {"nofollow": 1}
    assert found["hops"][0]["robots"]["allowed"] is True
    assert found["hops"][0]["timing"]["total_ms"] > 0
    assert ["Set-Cookie", "b=2"] in found["headers"]
    assert (tmp_path / "page.html").read_bytes() == PAGE


def test_redirects_are_shown_hop_by_hop(fetch: Fetch, site: StaticSite) -> None:
    code, out, _ = fetch(f"{site.url}/old", "--json")
    assert code == 0
    hops = json.loads(out)["hops"]
    assert [(hop["url"].removeprefix(site.url), hop["status_code"]) for hop in hops] == [
        ("/old", 301),
        ("/older", 302),
        ("/", 200),
    ]
    assert site.asked.count("/robots.txt") == 1


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/secret", "robots.txt line 3 says 'Disallow: /secret'"),
        ("/to-secret", "robots.txt line 3 says 'Disallow: /secret'"),
        ("/to-private", "FORAGER_FETCH_ALLOW_NETWORKS"),
        ("/loop", "more than 5 redirects in a row"),
    ],
)
def test_what_a_crawl_would_not_do_it_does_not_do(fetch: Fetch, site: StaticSite, path: str, sentence: str) -> None:
    code, out, err = fetch(f"{site.url}{path}", "--json")
    assert code == 1
    assert sentence in err
    assert sentence in json.loads(out)["error"]
    assert "/secret" not in site.asked
    assert len(site.asked) <= 7


def test_private_addresses_are_refused_with_the_way_out(
    fetch: Fetch, site: StaticSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORAGER_FETCH_ALLOW_NETWORKS", "")
    code, out, err = fetch(site.url)
    assert (code, out) == (1, "")
    assert "loopback" in err
    assert "FORAGER_FETCH_ALLOW_NETWORKS" in err
    assert site.asked == []


def test_an_error_page_is_an_answer(fetch: Fetch, site: StaticSite) -> None:
    code, out, _ = fetch(f"{site.url}/gone")
    assert code == 0
    assert out.startswith("404 ")


@pytest.mark.parametrize("url", ["ftp://a.example/", "http://", "javascript:alert(1)"])
def test_what_is_no_page_gets_one_sentence(fetch: Fetch, url: str) -> None:
    code, _, err = fetch(url)
    assert code == 2
    assert err.count("\n") == 1


def test_an_unknown_parser_gets_one_sentence(fetch: Fetch, site: StaticSite) -> None:
    code, _, err = fetch(site.url, "--parser", "nobody")
    assert code == 2
    assert "There is no parser 'nobody'" in err
    assert site.asked == []


def test_a_hostile_page_cannot_move_the_cursor(fetch: Fetch, site: StaticSite) -> None:
    code, out, _ = fetch(f"{site.url}/hostile", "--headers")
    assert code == 0
    assert "\x1b" not in out
    assert "\u202e" not in out
