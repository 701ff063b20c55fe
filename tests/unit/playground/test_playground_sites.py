"""Every site against its own list: a closed world, unique titles, the same for the same seed."""

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from urllib.parse import urlsplit

import pytest

from forager.errors import UsageError
from forager.urls.normalize import normalize
from forager_playground import DEMO_SITES, Answer, AnswerKey, Fate, Site, make_answer_key, make_sites
from forager_playground.language import LANGUAGES, load_language

SMALL_FIELDS = ("uniform=3x40", "bench=2x30", "lifelike=2x12")
ORDERS = (*DEMO_SITES, *SMALL_FIELDS)
SCALES = (0.01, 0.3, 1.0, 7.0)


def ask(site: Site, target: str) -> Answer:
    path, _, query = target.partition("?")
    return site.answer(path, query)


def key_of(order: str, scale: float = 1.0) -> AnswerKey:
    return make_answer_key([order], port=8000, scale=scale)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("order", ORDERS)
def test_links_lead_to_listed_pages_or_into_a_trap(order: str, scale: float) -> None:
    key = key_of(order, scale)
    for page in key.by_url.values():
        for link in page.links + page.nofollow_links:
            assert link in key.by_url or key.is_trap(link), f"{page.url} links to {link}"


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("order", ORDERS)
def test_what_must_be_fetched_is_within_eight_links_and_the_rest_cannot_be_reached(order: str, scale: float) -> None:
    for page in key_of(order, scale).by_url.values():
        if page.fate is Fate.FETCH:
            assert page.depth in range(9), page.url
        else:
            assert page.depth is None, page.url


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("order", ORDERS)
def test_titles_are_unique_on_a_site(order: str, scale: float) -> None:
    for site in key_of(order, scale).sites:
        titles = Counter(page.title for page in site.pages if page.title)
        assert max(titles.values()) == 1


@pytest.mark.parametrize("order", ORDERS)
def test_all_urls_of_the_key_are_in_normal_form(order: str) -> None:
    key = key_of(order)
    urls = {link for page in key.by_url.values() for link in page.links + page.nofollow_links} | set(key.by_url)
    assert [url for url in urls if normalize(url) != url] == []


@pytest.mark.parametrize("order", ORDERS)
def test_sites_answer_what_they_list(order: str) -> None:
    for site in make_sites([order]):
        for page in site.pages():
            for _ in page.early_statuses:
                ask(site, page.path)
            answer = ask(site, page.path)
            assert answer.status == page.status, page.path
            if page.redirect_to:
                assert dict(answer.headers)["Location"] == page.redirect_to


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    "target", ["/nothing-here", "/p/0", "/p/007", "/p/99999999", "/p/-1", "/p/1/", "/%00", "//", "/?x=1"]
)
def test_there_is_one_spelling_per_page(order: str, target: str) -> None:
    for site in make_sites([order]):
        listed = {page.path for page in site.pages()}
        assert ask(site, target).status == (200 if target in listed else 404)


def test_another_seed_is_another_web() -> None:
    for order in ORDERS:
        one, two = (make_sites([order], seed=seed)[0] for seed in (1, 2))
        assert [ask(one, page.path).body for page in one.pages()] != [ask(two, page.path).body for page in two.pages()]


def fingerprint() -> str:
    digest = hashlib.sha256()
    for site in make_sites(ORDERS, seed=7):
        for page in site.pages():
            digest.update(page.path.encode() + ask(site, page.path).body)
    return digest.hexdigest()


def test_two_processes_make_the_same_bytes() -> None:
    environment = os.environ | {"PYTHONHASHSEED": "123"}
    other = subprocess.run([sys.executable, __file__], env=environment, capture_output=True, text=True, check=True)
    assert other.stdout.strip() == fingerprint()


def test_a_million_products_cost_nothing_until_asked_for() -> None:
    shop = make_sites(["shop=1000000"])[0]
    targets = ["/"]
    for _ in range(6):  # the last link of each page leads towards the end of the shop
        page = next(page for page in [shop.answer(targets[-1], "")] if page.status == 200)
        hrefs = [part.partition('"')[0] for part in page.body.decode().split('href="')[1:]]
        deeper = [href for href in hrefs if href.startswith(("/aisle/", "/c/", "/p/"))]
        targets.append(deeper[-1].partition("?")[0])
    assert targets[-1].startswith("/p/")
    assert int(targets[-1].rpartition("-")[2]) > 990_000


def test_the_demo_web_has_a_few_hundred_pages() -> None:
    key = make_answer_key(port=8000)
    assert 250 <= len(key.expected_visits()) <= 400
    assert len(key.sites) == len(DEMO_SITES)


def test_the_blog_speaks_ten_languages_and_sometimes_lies_about_it() -> None:
    pages = key_of("blog").by_url.values()
    assert {page.language for page in pages} == set(LANGUAGES)
    assert any(page.declared_language is None for page in pages)
    assert any(page.declared_language not in {None, page.language} for page in pages)


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_language_has_enough_to_say(code: str) -> None:
    words = load_language(code)
    assert len(set(words.sentences)) >= 25
    assert len(set(words.titles)) >= 10
    assert words.paragraph(4, 1) == words.paragraph(4, 1) != words.paragraph(4, 2)


def test_products_say_the_same_price_twice() -> None:
    shop = make_sites(["shop"])[0]
    products = [page.path for page in shop.pages() if page.path.startswith("/p/")]
    assert len(products) == 48
    kinds = set()
    for path in products:
        html = shop.answer(path, "").body.decode()
        kinds |= {mark for mark in ("ld+json", "itemprop=", "property=", "og:") if mark in html}
        if "ld+json" in html:
            described = json.loads(html.partition('ld+json">')[2].partition("</script>")[0])
            assert f"€{described['offers']['price']}" in html
    assert kinds == {"ld+json", "itemprop=", "property=", "og:"}


def test_one_list_has_many_spellings() -> None:
    shop = make_sites(["shop"])[0]
    path = next(page.path for page in shop.pages() if page.path.startswith("/c/")).partition("?")[0]
    spellings = ("page=2&sort=price", "sort=price&page=2", "utm_source=x&sort=price&page=2&utm_medium=y")
    assert len({shop.answer(path, query).body for query in spellings}) == 1
    assert shop.answer(path, "page=3").status == 404
    assert shop.answer(path, "sort=price&sort=price").status == 404


def test_strict_rules_are_those_a_known_parser_reads() -> None:
    from protego import Protego

    key = key_of("strict")
    robots = Protego.parse(key.sites[0].robots_txt or "")
    for page in key.by_url.values():
        assert robots.can_fetch(page.url, "Forager") is (page.fate is Fate.FETCH), page.url
    assert robots.crawl_delay("Forager") == 0.2
    assert not robots.can_fetch(key.sites[0].start_url, "BadBot")
    assert any(not robots.can_fetch(page.url, "Anyone") for page in key.by_url.values() if page.fate is Fate.FETCH)


def test_traps_go_on_and_lead_back() -> None:
    trap = make_sites(["trap"])[0]
    for start in ("/calendar/2024/1", "/maze/", "/p/1?sid=1"):
        seen, target = set(), start
        for _ in range(50):
            assert target not in seen
            seen.add(target)
            html = ask(trap, target).body.decode()
            hrefs = [part.partition('"')[0] for part in html.split('href="')[1:]]
            assert any(href == "/" or (href.startswith("/p/") and "?" not in href) for href in hrefs)
            target = next(href for href in hrefs if href.startswith("/calendar/") or "sid=" in href or href == "left/")
            target = urlsplit(seen_path(start, target, seen)).geturl()


def seen_path(start: str, href: str, seen: set[str]) -> str:
    return max(seen, key=len) + href if start == "/maze/" else href


@pytest.mark.parametrize("order", ["shopp", "shop=", "shop=-1", "shop=many", "uniform=0x5", "uniform=3x", ""])
def test_a_wrong_order_is_one_sentence(order: str) -> None:
    if order == "shop=":
        assert len(make_sites([order])) == 1
        return
    with pytest.raises(UsageError, match=r"[.?]$"):
        make_sites([order])


def test_a_wrong_scale_is_one_sentence() -> None:
    with pytest.raises(UsageError, match="scale"):
        make_sites(["shop"], scale=0)


if __name__ == "__main__":
    sys.stdout.write(fingerprint())
