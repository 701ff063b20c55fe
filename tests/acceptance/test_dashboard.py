"""The dashboard in a real browser against a running instance: every page, live, by role, safe, reachable by all."""

import json
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright
from tests.acceptance.conftest import HOST_BASE, SETTINGS
from tests.acceptance.instance import PASSWORD, Instance
from tests.acceptance.stage import Forager, until
from tests.conftest import Server, _database, _template
from tests.ports import free_port

from forager import dashboard
from forager.fetch.browser.program import find_chromium, find_missing_dependency
from forager.frontier.details import pack_items
from forager_playground import start_playground

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(300), pytest.mark.xdist_group("dashboard")]

AXE = Path(__file__).parents[2] / "dashboard/node_modules/axe-core/axe.min.js"
PAGES = (
    *("/", "/domains", "/profiles", "/tasks", "/runs", "/seeds", "/search", "/pages", "/products", "/images"),
    *("/alerts", "/errors", "/workers", "/schedule", "/proxies", "/settings", "/users", "/audit", "/account"),
)
ADMINS = {"/seeds", "/users", "/audit"}
EVIL = "<img src=x onerror=window.hurt=1><script>window.hurt=1</script>"
EXPECTED_401 = "status of 401"
EXPECTED_403 = "status of 403"


def need(reason: str | None) -> None:
    if reason is None:
        return
    if os.environ.get("FORAGER_REQUIRE_SERVICES") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@dataclass
class House:
    """One instance and one browser for all tests here: crawling is what takes long, then signing in."""

    forager: Forager
    instance: Instance
    browser: Browser
    user_secret: str
    admin: BrowserContext = field(init=False)
    """Alice has signed in here, and everybody looks with her eyes. The second page finds the scripts of the first."""

    @property
    def address(self) -> str:
        return str(self.instance.http.base_url).rstrip("/")


@dataclass
class Seen:
    """What a browser said while a test looked."""

    page: Page
    troubles: list[str] = field(default_factory=list)

    def note(self, message: ConsoleMessage) -> None:
        if message.type == "error" and EXPECTED_401 not in message.text:
            self.troubles.append(message.text)


@pytest.fixture(scope="module")
def house(embedded_server: Server, run_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    need(find_missing_dependency())
    need(None if (dashboard.FOLDER / "index.html").exists() else "The dashboard is not built: make dashboard.")
    folder = tmp_path_factory.mktemp("dashboard")
    name = f"{run_folder.name}-{folder.parent.name}-dashboard"
    with _database(embedded_server, name, _template(embedded_server, run_folder)) as dsn:
        environ = SETTINGS | {
            "FORAGER_HOME": str(folder),
            "FORAGER_DATABASE_URL": dsn,
            "FORAGER_API_RATE_LIMIT_ADMIN": "100000",
        }
        environ |= {
            "FORAGER_IMAGES_POLICY": "download",
            "FORAGER_STORAGE_CONTENT_POLICY": "snapshot",
            "FORAGER_API_RATE_LIMIT_USER": "100000",
        }
        environ |= {"FORAGER_API_RATE_LIMIT_ANONYMOUS": "100000"}
        forager = Forager(folder, environ, dsn)
        sites = ["shop=12", "blog=6", "gallery=6", "strict=6", "docs=6"]
        with start_playground(sites, host_base=HOST_BASE) as web, sync_playwright() as playwright:
            instance = Instance(forager)
            instance.become_admin()
            instance.do("POST", "/api/frontier/seed", {"urls": list(web.urls)})
            link: str = instance.do("POST", "/api/admin/users", {"name": "bob", "role": "user"})["link"]
            until(
                lambda: forager.value("SELECT count(*) > 3 AND bool_and(status = 'exhausted') FROM domains"),
                "the small web is crawled",
            )
            forager.ask("UPDATE pages SET title = $1 WHERE fetched_at IS NOT NULL AND NOT is_image", EVIL)
            browser = playwright.chromium.launch(
                executable_path=str(find_chromium()), args=["--no-sandbox"] if os.geteuid() == 0 else []
            )
            house = House(forager, instance, browser, link.partition("#")[2])
            house.admin = browser.new_context(base_url=house.address)
            sign_in(house)
            yield house
            browser.close()
            instance.stop()
            instance.http.close()
        forager.close()


def look(context: BrowserContext) -> Seen:
    seen = Seen(context.new_page())
    seen.page.on("console", seen.note)
    seen.page.on("pageerror", lambda error: seen.troubles.append(str(error)))
    return seen


def sign_in(house: House) -> None:
    page = house.admin.new_page()
    page.goto("/")
    page.get_by_label("Name").fill("alice")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("#main")).to_be_visible()
    page.close()


@pytest.fixture
def seen(house: House) -> Iterator[Seen]:
    """A page of its own for a test, signed in."""
    seen = look(house.admin)
    yield seen
    seen.page.close()


@pytest.fixture(scope="module")
def examined(house: House) -> Iterator[BrowserContext]:
    """Where axe may be put into pages, which their policy forbids; signed in, too."""
    context = house.browser.new_context(
        base_url=house.address, bypass_csp=True, storage_state=house.admin.storage_state()
    )
    yield context
    context.close()


def settle(page: Page, path: str) -> None:
    """What was asked for has come; the stream of numbers never ends, so the network is never idle."""
    page.goto(path)
    _rest(page)


def _rest(page: Page) -> None:
    expect(page.locator("#main")).to_be_visible()
    expect(page.locator("[aria-label=Loading]")).to_have_count(0, timeout=20_000)


def move(page: Page, path: str) -> None:
    """As a link inside the dashboard does, without loading it anew: what axe needs is there already."""
    page.evaluate(
        "path => { for (const old of document.querySelectorAll('#main > *')) old.dataset.before = 'yes';"
        " history.pushState({}, '', path); dispatchEvent(new PopStateEvent('popstate')) }",
        path,
    )
    expect(page.locator("[data-before]")).to_have_count(0)
    _rest(page)


def a_page_of_each(house: House) -> list[str]:
    def one(sql: str) -> Any:
        return house.forager.value(sql)

    domain = one("SELECT name FROM domains ORDER BY id LIMIT 1")
    return [
        f"/domains/{domain}",
        f"/tasks/{one('SELECT max(id) FROM crawl_tasks')}",
        f"/pages/{one('SELECT min(id) FROM pages')}",
        f"/products/{one('SELECT min(id) FROM products')}",
        f"/images/{one('SELECT min(image_id) FROM page_images')}",
        f"/runs/{one('SELECT min(id) FROM runs')}",
        "/search?q=the",
    ]


def test_every_page_is_whole_at_every_width(house: House, examined: BrowserContext) -> None:
    """No error on the console, nothing that sticks out, a heading, and nothing that axe finds."""
    seen = look(examined)
    seen.page.set_viewport_size({"width": 1440, "height": 900})
    settle(seen.page, "/account")
    seen.page.add_script_tag(path=AXE)
    troubles: list[str] = []
    for path in (*PAGES, *a_page_of_each(house)):
        move(seen.page, path)
        expect(seen.page.locator("h1, [aria-label='Needs attention'], main p").first).to_be_visible()
        troubles += [f"{path}: {said}" for said in accessibility(seen.page)]
        seen.page.set_viewport_size({"width": 390, "height": 844})
        wide = seen.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        troubles += [f"{path}: sticks out {wide} px on a phone"] if wide > 1 else []
        seen.page.set_viewport_size({"width": 1440, "height": 900})
    seen.page.close()
    assert troubles + seen.troubles == []


def accessibility(page: Page) -> list[str]:
    """What axe finds, where it was put into the page. It need not write down what is well."""
    found = page.evaluate(
        "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'],"
        " resultTypes: ['violations'], selectors: false})"
        ".then(r => r.violations.map(v => v.id + ': ' + v.nodes.slice(0, 2).map(n => n.html.slice(0, 99)).join(' | ')))"
    )
    return list(found)


def test_dark_colours_are_readable_too(examined: BrowserContext) -> None:
    page = examined.new_page()
    page.emulate_media(color_scheme="dark")
    settle(page, "/account")
    page.add_script_tag(path=AXE)
    troubles: list[str] = []
    for path in ("/", "/domains", "/tasks", "/alerts", "/settings"):
        move(page, path)
        troubles += [f"{path}: {said}" for said in accessibility(page)]
    page.close()
    assert troubles == []


def test_what_was_crawled_is_only_ever_text(house: House, seen: Seen) -> None:
    page_id = house.forager.value("SELECT min(id) FROM pages WHERE title = $1", EVIL)
    for path in ("/pages", f"/pages/{page_id}"):
        settle(seen.page, path)
        expect(seen.page.get_by_text("<img src=x onerror=").first).to_be_visible()
        assert seen.page.evaluate("window.hurt") is None
    policy = house.instance.http.get("/").headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "script-src 'self'" in policy
    assert seen.troubles == []


def test_structured_data_opens_item_by_item(house: House, examined: BrowserContext) -> None:
    seen = look(examined)
    offer = {"@type": "Offer", "price": "24.50", "url": "javascript:window.hurt=1", "note": EVIL}
    item = {"syntax": "json-ld", "types": ["Product"], "properties": {"name": EVIL, "offers": [offer]}}
    page_id = house.forager.value("SELECT max(id) FROM pages WHERE fetched_at IS NOT NULL AND NOT is_image")
    house.forager.ask("DELETE FROM page_details WHERE page_id = $1", page_id)
    house.forager.ask(
        "INSERT INTO page_details (page_id, headline, site_name, published_on, structured_data, content_hash)"
        " VALUES ($1, 'A headline', 'A site', '2026-01-02', $2, '')",
        page_id,
        pack_items(json.dumps([item]).encode()),
    )
    settle(seen.page, f"/pages/{page_id}")
    for told in ("A headline", "A site", "2026-01-02"):
        expect(seen.page.get_by_text(told, exact=True)).to_be_visible()
    product = seen.page.get_by_role("region", name="Product", exact=True)
    expect(product.get_by_text("24.50")).to_have_count(0)
    product.get_by_text("JSON-LD").click()
    product.get_by_text("Offer", exact=True).click()
    expect(product.get_by_text("24.50")).to_be_visible()
    expect(product.get_by_role("link")).to_have_count(0)
    assert seen.page.evaluate("window.hurt") is None
    seen.page.add_script_tag(path=AXE)
    assert accessibility(seen.page) == []
    assert seen.troubles == []
    seen.page.close()


def test_nothing_comes_from_elsewhere(house: House, seen: Seen) -> None:
    asked: set[str] = set()
    seen.page.on("request", lambda request: asked.add(request.url))
    for path in ("/", "/images", "/products"):
        settle(seen.page, path)
    assert asked
    assert all(url.startswith((house.address, "data:", "blob:")) for url in asked)


def test_numbers_are_live(house: House, seen: Seen) -> None:
    settle(seen.page, "/")
    expect(seen.page.get_by_role("status").filter(has_text="Live")).to_be_visible()
    before = house.forager.value("SELECT count(*) FROM domains")
    house.instance.do("POST", "/api/frontier/add", {"urls": ["http://127.77.9.9:9/"]})
    expect(seen.page.locator("main").get_by_text(str(before + 1), exact=True).first).to_be_visible(timeout=15_000)


def test_a_user_sees_no_verbs_and_a_stranger_nothing(house: House) -> None:
    context = house.browser.new_context(base_url=house.address)
    seen = look(context)
    seen.page.goto(f"/accept#{house.user_secret}")
    seen.page.get_by_label("Password").fill(PASSWORD)
    seen.page.get_by_role("button", name="Begin").click()
    expect(seen.page.get_by_role("link", name="Overview")).to_be_visible()
    for path in (*PAGES, *a_page_of_each(house)):
        settle(seen.page, path)
        if path in ADMINS - {"/audit"}:
            expect(seen.page.get_by_text("administrator").first).to_be_visible()
    expect(seen.page.get_by_role("link", name="Add seeds")).to_have_count(0)
    settle(seen.page, f"/domains/{house.forager.value('SELECT min(name) FROM domains')}")
    for verb in ("Pause", "Reset", "Block"):
        expect(seen.page.get_by_role("button", name=verb)).to_have_count(0)
    seen.page.get_by_role("button", name="Sign out").click()
    expect(seen.page.get_by_role("button", name="Sign in")).to_be_visible()
    seen.page.goto("/domains")
    expect(seen.page.get_by_role("button", name="Sign in")).to_be_visible()
    context.close()
    assert [said for said in seen.troubles if EXPECTED_403 not in said] == []


def test_a_wrong_password_is_told_and_a_right_one_goes_on_where_one_was(house: House) -> None:
    context = house.browser.new_context(base_url=house.address)
    page = context.new_page()
    page.goto("/settings")
    page.get_by_label("Name").fill("alice")
    page.get_by_label("Password").fill("wrong wrong wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_label("Password")).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Settings")).to_be_visible()
    context.close()


def test_a_domain_is_paused_and_resumed_with_the_mouse(house: House, seen: Seen) -> None:
    domain = house.forager.value("SELECT min(name) FROM domains")
    settle(seen.page, f"/domains/{domain}")
    for verb, state in (("Pause", "NOT is_active"), ("Resume", "is_active")):
        seen.page.get_by_role("button", name=verb).first.click()
        dialog = seen.page.get_by_role("dialog")
        if dialog.count():
            dialog.get_by_role("button", name=verb).click()
        sql = f"SELECT {state} FROM domains WHERE name = $1"
        until(partial(house.forager.value, sql, domain), f"{verb} was done")
    assert seen.troubles == []


def test_the_keyboard_reaches_the_search(house: House, seen: Seen) -> None:
    settle(seen.page, "/settings")
    seen.page.keyboard.press("/")
    seen.page.keyboard.type("the")
    seen.page.keyboard.press("Enter")
    expect(seen.page).to_have_url(f"{house.address}/search?q=the")


def test_who_searches_is_told_that_postgresql_answered_for_the_search_server(house: House, seen: Seen) -> None:
    port, nowhere = (
        str(free_port()),
        {"FORAGER_SEARCH_BACKEND": "opensearch", "FORAGER_SEARCH_URL": "http://127.0.0.1:9"},
    )
    api = house.forager.spawn("api", "--port", port, **nowhere)
    try:
        until(lambda: answers(f"http://127.0.0.1:{port}/"), "the second API answers")
        settle(seen.page, f"http://127.0.0.1:{port}/search?q=the")
        expect(seen.page.get_by_role("note")).to_contain_text("PostgreSQL answered instead.")
        settle(seen.page, f"{house.address}/search?q=the")
        expect(seen.page.get_by_role("note")).to_have_count(0)  # nor is there one where nobody is missed
    finally:
        api.signal(signal.SIGTERM)
        assert api.wait() == 0, api.said


def answers(address: str) -> bool:
    try:
        return httpx.get(address).status_code == 200
    except httpx.HTTPError:
        return False


def test_an_alert_is_acknowledged_and_resolved_with_the_mouse(house: House, seen: Seen) -> None:
    row = "('error_rate', 'mouse', 'critical', $1) RETURNING id"
    insert = f"INSERT INTO alerts (rule, subject, severity, message) VALUES {row}"
    alert = house.forager.value(insert, "Half of the answers are errors")
    settle(seen.page, "/alerts")
    seen.page.get_by_role("button", name="Acknowledge: Half of the answers").click()
    asked = "SELECT acknowledged_by FROM alerts WHERE id = $1"
    until(lambda: house.forager.value(asked, alert) == "api:alice", "it is acknowledged by her")
    seen.page.get_by_role("tab", name="Acknowledged").click()
    seen.page.get_by_role("button", name="Resolve: Half of the answers").click()
    dialog = seen.page.get_by_role("dialog")
    dialog.get_by_label("What was done").fill("the site was told")
    dialog.get_by_role("button", name="Resolve the alert").click()
    until(lambda: house.forager.value("SELECT resolved_by FROM alerts WHERE id = $1", alert) == "api:alice", "resolved")
    seen.page.get_by_role("tab", name="Resolved").click()
    seen.page.get_by_role("button", name="Half of the answers are errors").click()
    expect(seen.page.get_by_role("dialog").get_by_text("the site was told")).to_be_visible()
    assert seen.troubles == []


def test_seeds_are_looked_at_before_they_are_added(house: House, seen: Seen) -> None:
    """Of a sitemap, too: what is known and what is new, and nothing happens before one says so."""
    home = house.forager.value("SELECT base_url FROM domains WHERE pages_crawled > 0 ORDER BY id LIMIT 1")
    settle(seen.page, "/seeds")
    addresses = seen.page.get_by_label("Addresses", exact=True)
    addresses.fill(f"{home}/\nhttp://127.77.9.8:9/\nnonsense")
    seen.page.get_by_role("button", name="Preview 3 addresses").click()
    expect(seen.page.get_by_text("line 3:")).to_be_visible()
    expect(seen.page.get_by_role("button", name="Add 2 seeds")).to_be_visible()
    for name, number in (("New pages", "1"), ("Known already", "1")):
        expect(seen.page.get_by_text(name, exact=True).locator("xpath=..")).to_contain_text(number)
    seen.page.get_by_label("Or the address of a sitemap").fill(f"{home}/nothing-here.xml")
    seen.page.get_by_role("button", name="Read it").click()
    expect(seen.page.get_by_text("could not be fetched")).to_be_visible(timeout=20_000)
    assert house.forager.value("SELECT count(*) FROM domains WHERE name = '127.77.9.8:9'") == 0


def test_domains_are_paused_and_resumed_together(house: House, seen: Seen) -> None:
    settle(seen.page, "/domains?sort=name")
    names = [house.forager.value("SELECT name FROM domains ORDER BY name LIMIT 1 OFFSET $1", row) for row in (0, 1)]
    paused = partial(house.forager.value, "SELECT count(*) FROM domains WHERE NOT is_active AND name = ANY ($1)", names)
    orders: list[str] = []
    seen.page.on("request", lambda asked: orders.append(asked.url) if asked.method == "POST" else None)
    for verb, number in (("Pause", 2), ("Resume", 0)):
        for name in names:
            seen.page.get_by_label(f"Select {name}").check()
        seen.page.get_by_role("toolbar").get_by_role("button", name=verb).click()
        seen.page.get_by_role("dialog").get_by_role("button", name=f"{verb} 2 domains").click()
        until(lambda wanted=number: paused() == wanted, f"{verb} was done for both")  # type: ignore[misc]
        expect(seen.page.get_by_text("Select domains to act on them")).to_be_visible()
    assert seen.troubles == []
    assert orders == [f"{house.address}/api/admin/domains/bulk"] * 2, "one request, however many are chosen"


def test_a_long_list_asks_again_for_what_is_seen_only(house: House, seen: Seen) -> None:
    """Somebody who scrolled far costs the server no more than somebody who did not."""
    many = (
        "INSERT INTO domains (name, parent_domain, base_url, status, is_active)"
        " SELECT n || '.long.example', 'long.example', 'http://' || n || '.long.example', 'pending', false"
        " FROM generate_series(1, 350) n"
    )
    house.forager.ask(many)
    settle(seen.page, "/domains?parent=long.example")
    table = seen.page.get_by_role("table", name="Domains")
    expect(table).to_be_visible()
    asked: list[str] = []
    seen.page.on("request", lambda request: asked.append(request.url) if "/api/domains?" in request.url else None)
    for shown in (200, 300, 350):
        table.evaluate("list => list.scrollTo(0, list.scrollHeight)")
        expect(seen.page.get_by_text(f"{shown} shown")).to_be_visible()
    table.evaluate("list => list.scrollTo(0, list.scrollHeight)")
    expect(table.get_by_text("350.long.example", exact=True)).to_be_visible()
    asked.clear()
    with seen.page.expect_request(lambda request: "/api/domains?" in request.url, timeout=20_000):
        pass
    with seen.page.expect_request(lambda request: "/api/domains?" in request.url, timeout=20_000):
        pass
    house.forager.ask("DELETE FROM domains WHERE parent_domain = 'long.example'")
    assert all("after=" in url for url in asked), "the first page is not seen, so nobody asks for it"


STILL = "still.example"


@pytest.fixture
def still(house: House) -> Iterator[str]:
    """A domain that no worker touches."""
    house.forager.ask(
        "INSERT INTO domains (name, parent_domain, base_url, status, is_active, priority_score)"
        f" VALUES ('{STILL}', '{STILL}', 'http://{STILL}', 'pending', false, -5)"
    )
    yield STILL
    house.forager.ask(f"DELETE FROM domains WHERE name = '{STILL}'")


def test_a_domain_is_scored_blocked_and_reset_with_the_mouse(house: House, seen: Seen, still: str) -> None:
    settle(seen.page, f"/domains/{still}")
    seen.page.get_by_role("button", name="Re-score").click()
    scored = "SELECT priority_score >= 0 FROM domains WHERE name = $1"
    until(partial(house.forager.value, scored, still), "it has another score")
    seen.page.get_by_role("button", name="Block", exact=True).click()
    dialog = seen.page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Block the domain")).to_be_disabled()
    dialog.get_by_label("Why").fill("its owner asked for it")
    dialog.get_by_role("button", name="Block the domain").click()
    blocked = "SELECT status = 'blocked' AND block_reason = 'its owner asked for it' FROM domains WHERE name = $1"
    until(partial(house.forager.value, blocked, still), "it is blocked")
    expect(dialog).to_have_count(0)
    expect(seen.page.locator("main").get_by_text("its owner asked for it").first).to_be_visible()
    seen.page.get_by_role("button", name="Reset", exact=True).click()
    dialog.get_by_label("Why").fill("they thought better of it")
    dialog.get_by_role("button", name="Reset the domain").click()
    pending = "SELECT status = 'pending' FROM domains WHERE name = $1"
    until(partial(house.forager.value, pending, still), "it is pending again")
    expect(dialog).to_have_count(0)
    settle(seen.page, f"/domains/{still}?tab=history")
    expect(seen.page.get_by_text("they thought better of it").first).to_be_visible()
    assert seen.troubles == []


def test_a_task_is_paused_and_cancelled_with_the_mouse(house: House, seen: Seen) -> None:
    order = {"url": "http://127.77.9.6:9/later", "scheduled_for": "2099-01-01T00:00:00Z"}
    task = house.instance.do("POST", "/api/admin/tasks", order)["task_id"]
    state = partial(house.forager.value, "SELECT status::text FROM crawl_tasks WHERE id = $1", task)
    settle(seen.page, f"/tasks/{task}")
    seen.page.get_by_role("button", name="Pause", exact=True).click()
    until(lambda: state() == "paused", "it is paused")
    expect(seen.page.get_by_role("button", name="Resume", exact=True)).to_be_visible()
    seen.page.get_by_role("button", name="Cancel task").click()
    dialog = seen.page.get_by_role("dialog")
    dialog.get_by_label("Why").fill("nobody needs it")
    dialog.get_by_role("button", name="Cancel the task").click()
    until(lambda: state() == "cancelled", "it is cancelled")
    expect(seen.page.get_by_text("Ended: cancelled")).to_be_visible()
    expect(seen.page.get_by_text("nobody needs it").first).to_be_visible()
    assert seen.troubles == []


def test_the_rule_of_an_alert_is_muted_and_unmuted_with_the_mouse(house: House, seen: Seen) -> None:
    insert = "INSERT INTO alerts (rule, subject, severity, message) VALUES ('few_proxies', 'mute', 'warning', $1)"
    alert = house.forager.value(f"{insert} RETURNING id", "Two proxies are left")
    settle(seen.page, f"/alerts?alert={alert}")
    seen.page.get_by_role("dialog").get_by_role("button", name="Mute", exact=True).click()
    dialog = seen.page.get_by_role("dialog", name="Mute few proxies")
    dialog.get_by_label("For how long").select_option(label="1 day")
    dialog.get_by_label("Why").fill("more are ordered")
    dialog.get_by_role("button", name="Mute the rule").click()
    muted = partial(house.forager.value, "SELECT count(*) FROM alert_mutes WHERE subject = 'mute'")
    until(lambda: muted() == 1, "it is muted")
    expect(dialog).to_have_count(0)
    settle(seen.page, "/alerts?view=rules")
    expect(seen.page.get_by_text("more are ordered")).to_be_visible()
    seen.page.get_by_role("button", name="Unmute").click()
    until(lambda: muted() == 0, "it is not muted any more")
    assert seen.troubles == []


def test_somebody_is_invited_and_switched_off_with_the_mouse(house: House, seen: Seen) -> None:
    settle(seen.page, "/users")
    seen.page.get_by_role("button", name="Invite somebody").click()
    seen.page.get_by_role("dialog").get_by_label("Name").fill("carol")
    seen.page.get_by_role("dialog").get_by_role("button", name="Make the link").click()
    link = seen.page.get_by_role("dialog", name="A link for carol")
    expect(link.get_by_text("/accept#")).to_be_visible()
    link.get_by_role("button", name="Close").click()
    carol = seen.page.get_by_role("listitem").filter(has_text="carol").first
    is_active = partial(house.forager.value, "SELECT is_active FROM users WHERE name = 'carol'")
    for verb, wanted in (("Switch off", False), ("Switch on", True), ("Switch off", False)):
        carol.get_by_role("button", name=verb).click()
        until(lambda expected=wanted: is_active() is expected, verb)  # type: ignore[misc]
    expect(carol.get_by_text("switched off")).to_be_visible()
    assert seen.troubles == []


def test_parsers_that_fail_need_attention(house: House, seen: Seen) -> None:
    domain = house.forager.value("SELECT name FROM domains ORDER BY id LIMIT 1")
    house.forager.ask(
        "INSERT INTO product_days (domain_id, day, parser_name, parser_version, attempts, found, valid)"
        " SELECT id, (now() AT TIME ZONE 'UTC')::date - age, 'broken', 1, 50, found, found"
        " FROM domains, (VALUES (3, 45), (0, 5)) v (age, found) WHERE name = $1",
        domain,
    )
    settle(seen.page, "/")
    told = seen.page.get_by_label("Needs attention").get_by_text(f"Fewer products of {domain} can be read: 10")
    expect(told).to_be_visible()
    house.forager.ask("DELETE FROM product_days WHERE parser_name = 'broken'")
    assert seen.troubles == []


def test_a_task_shows_where_it_was_sent_on_to(house: House, seen: Seen) -> None:
    found = (
        "SELECT max(t.id) FROM crawl_tasks t JOIN page_link_lists l ON l.from_page_id = t.page_id"
        " WHERE l.rels = 'redirect' AND t.status_code BETWEEN 300 AND 399"
    )
    task = house.forager.value(found)
    shown = house.instance.do("GET", f"/api/tasks/{task}")["redirects"]
    onward = next(each for each in shown if each["is_onward"])
    settle(seen.page, f"/tasks/{task}")
    expect(seen.page.get_by_text("Sent on", exact=False).first).to_be_visible()
    seen.page.get_by_role("link", name=f"to {onward['url']}").click()
    expect(seen.page).to_have_url(f"{house.address}/pages/{onward['page_id']}")
    assert seen.troubles == []


def test_a_profile_is_made_applied_and_overruled_with_the_mouse(house: House, examined: BrowserContext) -> None:
    """Settings of a domain show where they come from: the profile, then the domain, then the profile again."""
    seen = look(examined)
    page = seen.page
    domain = house.forager.value("SELECT min(name) FROM domains WHERE pages_crawled > 0")
    settle(page, "/profiles")
    page.get_by_role("button", name="Create a profile").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("Shops!")
    dialog.get_by_role("button", name="Create the profile").click()
    expect(dialog.get_by_text("is no name of a profile")).to_be_visible()
    dialog.get_by_label("Name", exact=True).fill("shops")
    dialog.get_by_label("Names and patterns").fill(domain)
    dialog.get_by_role("button", name="Create the profile").click()
    expect(page.get_by_role("heading", name="shops")).to_be_visible()
    page.get_by_label("delay", exact=True).fill("3s")
    page.get_by_label("exclude", exact=True).fill("*/search*\n*/cart*")
    page.get_by_label("headers", exact=True).fill("X-Key: a secret")
    page.get_by_role("button", name="Show difference").click()
    expect(dialog.get_by_text("*/search* */cart*")).to_be_visible()
    assert house.forager.value("SELECT settings::text FROM profiles WHERE name = 'shops'") == "{}"
    dialog.get_by_role("button", name="Save the profile").click()
    expect(page.get_by_text("The profile shops is saved")).to_be_visible()
    expect(page.get_by_label("headers", exact=True)).to_have_value("X-Key: •••")
    page.add_script_tag(path=AXE)
    assert accessibility(page) == []

    page.get_by_role("link", name=domain, exact=True).click()
    delay, row = page.get_by_label("delay", exact=True), page.locator("[data-setting=delay]")
    expect(delay).to_have_value("3s")
    expect(row.get_by_text("profile shops")).to_be_visible()
    assert accessibility(page) == []
    delay.fill("soon")
    page.get_by_role("button", name="Save 1 change").click()
    expect(delay).to_have_attribute("aria-invalid", "true")
    delay.fill("2s")
    page.get_by_role("button", name="Save 1 change").click()
    expect(row.get_by_text("domain", exact=True)).to_be_visible()
    expect(delay).to_have_value("2s")
    row.get_by_role("button", name="Take back delay").click()
    expect(delay).to_have_value("3s")
    page.get_by_role("button", name="Save 1 change").click()
    expect(row.get_by_text("profile shops")).to_be_visible()

    row.get_by_role("link", name="shops").click()
    page.get_by_label("delay", exact=True).fill("4s")
    page.get_by_role("button", name="Show difference").click()
    expect(dialog.get_by_text("headers")).to_have_count(0)  # what is hidden is kept
    dialog.get_by_role("button", name="Save the profile").click()
    expect(page.get_by_role("button", name="Show difference")).to_be_disabled()
    page.get_by_role("button", name="Delete").click()
    dialog.get_by_role("button", name="Delete the profile").click()
    expect(page.get_by_text("There is no profile yet")).to_be_visible()
    assert house.forager.value("SELECT count(*) FROM profiles") == 0
    page.close()
    assert [said for said in seen.troubles if "status of 422" not in said] == []
