"""The sites for what domains go through: refusals, walls, change; each against its own list and clock."""

from email.utils import parsedate_to_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.errors import UsageError
from forager.urls.normalize import normalize
from forager_playground import DEMO_SITES, LIFE_SITES, Answer, Fate, News, Site, make_answer_key, make_sites, wire
from forager_playground.sites.news import FIRST_DAY, GONE_AFTER_S, NEW_EVERY_S, PERIODS_S

HOUR_S = 3600


def site_of(order: str, seed: int = 1) -> Site:
    (site,) = make_sites([order], seed)
    return site


def ask(site: Site, target: str) -> Answer:
    path, _, query = target.partition("?")
    return site.answer(path, query)


def test_they_are_no_part_of_the_demo() -> None:
    assert not LIFE_SITES.keys() & DEMO_SITES.keys()
    assert {site.name for site in make_sites(LIFE_SITES)} == LIFE_SITES.keys()
    with pytest.raises(UsageError, match="did you mean 'closed'"):
        make_sites(["close"])


@pytest.mark.parametrize("order", LIFE_SITES)
@pytest.mark.parametrize("scale", [0.1, 1.0])
def test_links_lead_to_listed_pages_and_are_in_normal_form(order: str, scale: float) -> None:
    key = make_answer_key([order], port=8000, scale=scale)
    for page in key.by_url.values():
        assert normalize(page.url) == page.url
        assert set(page.links) <= set(key.by_url)
        assert (page.depth is not None) == (page.fate is Fate.FETCH)


@pytest.mark.parametrize("order", LIFE_SITES)
def test_sites_answer_what_they_list(order: str) -> None:
    site = site_of(order)
    for page in site.pages():
        answer = ask(site, page.path)
        assert answer.status == page.status, page.path
        assert dict(answer.headers).get("Location") == page.redirect_to
    assert ask(site, "/nothing-here").status == 404
    assert ask(site, "/?x=1").status == 404


@pytest.mark.parametrize(
    ("order", "status", "retry_after"),
    [
        ("closed", 403, None),
        ("limited", 429, None),
        ("soon", 429, "1"),
        ("later", 429, "3600"),
        ("broken", 500, None),
    ],
)
def test_a_refusing_site_refuses_every_page_but_not_its_robots_txt(
    order: str, status: int, retry_after: str | None
) -> None:
    site = site_of(f"{order}=4")
    assert "Disallow" not in (site.robots or "")
    for path in ("/", "/p/1", "/p/3"):
        answer = ask(site, path)
        assert (answer.status, dict(answer.headers).get("Retry-After")) == (status, retry_after)
    assert ask(site, "/p/4").status == 404


def test_a_wall_sends_everybody_to_its_form_and_names_the_page() -> None:
    site = site_of("wall=3")
    answer = ask(site, "/p/3")
    location = dict(answer.headers)["Location"]
    assert (answer.status, location) == (302, "/login?next=%2Fp%2F3")
    form = ask(site, location)
    assert form.status == 200
    assert b'type="password"' in form.body
    assert b'value="/p/3"' in form.body
    assert [ask(site, f"/login?next={wanted}").status for wanted in ("%2Fp%2F4", "%2F", "", "/p/3&x=1")] == [404] * 4


def test_a_gate_shows_its_form_in_place_of_the_page() -> None:
    site = site_of("gate=3")
    assert ask(site, "/p/3").status == 200
    assert b'type="password"' in ask(site, "/p/3").body
    assert b'type="password"' not in ask(site, "/").body


def test_a_club_is_public_but_for_a_corner() -> None:
    statuses = [page.status for page in site_of("club").pages()]
    assert (statuses.count(200), statuses.count(403), statuses.count(302)) == (16, 4, 1)


def test_a_hidden_site_forbids_everything() -> None:
    key = make_answer_key(["hidden"], port=8000)
    assert key.forbidden() == set(key.by_url)
    assert key.expected_visits() == frozenset()


# news ----------------------------------------------------------------------------------------------------------------


def news(now_s: int = 0) -> News:
    return News(1, now_s=now_s)


def state(site: News, target: str) -> tuple[int, bytes]:
    answer = ask(site, target)
    return answer.status, answer.body


@given(st.integers(0, 60 * 24 * HOUR_S), st.integers(0, 25))
def test_a_story_changes_once_in_each_period(at_s: int, story: int) -> None:
    site = news(now_s=at_s)
    period_s = site.period_s(story)
    before = site.version(story)
    if period_s is None:
        site.tick(10**8)
        assert site.version(story) == before == 0
    else:
        site.tick(period_s - 1)
        assert site.version(story) - before in {0, 1}
        site.tick(1)
        assert site.version(story) == before + 1 or at_s < site._created_s(story)


@given(st.integers(0, 30 * 24 * HOUR_S), st.integers(0, 20), st.integers(0, 48 * HOUR_S))
def test_a_page_differs_exactly_when_its_version_does_and_says_since_when(at_s: int, page: int, by_s: int) -> None:
    site, target = news(now_s=at_s), f"/p/{page}" if page else "/"
    before, version = ask(site, target), site.version(page)
    site.tick(by_s)
    after = ask(site, target)
    if before.status == after.status == 200:
        assert (before.body != after.body) == (site.version(page) != version)
        assert before.modified_at is not None
        assert after.modified_at is not None
        assert (after.modified_at > before.modified_at) == (site.version(page) != version)
        assert after.modified_at >= FIRST_DAY
        assert (after.modified_at - FIRST_DAY).total_seconds() <= site.now_s


def test_all_periods_are_used_and_some_stories_never_change() -> None:
    site = news()
    assert {site.period_s(story) for story in range(1, 21)} == set(PERIODS_S)
    assert len({site.changed_s(story) for story in range(1, 21)}) == 1
    site.tick(7 * 24 * HOUR_S)
    versions = {site.period_s(story): site.version(story) for story in range(1, 21)}
    assert versions == {None: 0, HOUR_S: 168, 6 * HOUR_S: 28, 24 * HOUR_S: 7, 7 * 24 * HOUR_S: 1}


def test_stories_are_added_and_the_start_page_names_them() -> None:
    site = news()
    before = state(site, "/")
    assert ask(site, "/p/21").status == 404
    site.tick(NEW_EVERY_S)
    assert ask(site, "/p/21").status == 200
    assert state(site, "/") != before
    assert len(list(site.pages())) == 22


def test_two_stories_disappear() -> None:
    site = news()
    site.tick(GONE_AFTER_S - 1)
    assert [ask(site, f"/p/{story}").status for story in (18, 19, 20)] == [200, 200, 200]
    site.tick(1)
    assert [ask(site, f"/p/{story}").status for story in (18, 19, 20)] == [200, 404, 410]


def test_the_clock_is_moved_by_a_request_and_by_nothing_else() -> None:
    site = news()
    assert state(site, "/p/1") == state(site, "/p/1")
    assert ask(site, "/_tick?by=7200").body == b"7200\n"
    assert ask(site, "/_tick?by=1").body == b"7201\n"
    assert [ask(site, f"/_tick?{query}").status for query in ("", "by=", "by=-1", "by=1.5", "by=9999999999")] == [
        400
    ] * 5
    assert site.now_s == 7201
    assert not any("_tick" in link.href for page in site.pages() for link in page.links)
    assert "Disallow: /_tick" in (site.robots or "")
    site.forget()
    assert site.now_s == 0


def test_its_validators_are_those_of_the_change() -> None:
    site = news()
    site.tick(30 * HOUR_S)
    reply = wire.render(ask(site, "/p/1"), takes_gzip=False)
    assert not reply.is_stable
    assert (parsedate_to_datetime(reply.last_modified) - FIRST_DAY).total_seconds() == site.changed_s(1)
    known = wire.Headers(if_none_match=reply.etag), wire.Headers(if_modified_since=reply.last_modified)
    assert all(headers.is_conditional for headers in known)
    assert all(wire.is_unchanged(reply, headers) for headers in known)
    site.tick(HOUR_S)
    later = wire.render(ask(site, "/p/1"), takes_gzip=False)
    assert not any(wire.is_unchanged(later, headers) for headers in known)
