"""The card of the queues in a real browser, on a real RabbitMQ: only where there are some, with what admins may do."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from tests.acceptance.instance import PASSWORD
from tests.acceptance.stage import Forager, until
from tests.acceptance.test_dashboard import AXE, accessibility, need
from tests.ports import free_port
from tests.queues import Queues, queues, wire
from tests.wire import Wire

from forager import dashboard
from forager.dispatch.names import CRAWL
from forager.fetch.browser.program import find_chromium, find_missing_dependency

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(180), pytest.mark.xdist_group("dashboard_queues")]
__all__ = ["queues", "wire"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    need(find_missing_dependency())
    need(None if (dashboard.FOLDER / "index.html").exists() else "The dashboard is not built: make dashboard.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(find_chromium()), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with browser.new_context(bypass_csp=True) as context:
        yield context.new_page()


def show_workers(forager: Forager, page: Page) -> None:
    """As an administrator who came by a link, in an API of its own."""
    secret = json.loads(forager.do("user", "invite", "alice", "--role", "admin", "--json"))["link"].partition("#")[2]
    address = f"http://127.0.0.1:{(port := free_port())}"
    api = forager.spawn("api", "--port", str(port))
    until(lambda: address in api.said, "the API listens")
    page.goto(f"{address}/accept#{secret}")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Begin").click()
    expect(page.locator("#main")).to_be_visible()
    with page.expect_response("**/api/queues"):
        page.goto(f"{address}/workers")


def test_the_card_of_the_queues(forager: Forager, queues: Queues, wire: Wire, page: Page) -> None:
    forager.environ |= queues.settings | {"FORAGER_DISPATCH_BROKER_URL": wire.url}
    show_workers(forager, page)
    card = page.locator("section", has=page.get_by_role("heading", name="Queues"))
    expect(card.get_by_text("broker answers")).to_be_visible()
    expect(card.get_by_text(f"{queues.names.prefix}{CRAWL}", exact=True)).to_be_visible()
    expect(card.get_by_role("button")).to_have_count(0)

    crawl = queues.names.prefix + CRAWL
    queues.publish(queues.names.dead, {"what": "<b>is</b> this"}, headers={"x-death": [{"queue": crawl}]})
    card.get_by_role("button", name="Show the dead letters").click(timeout=20_000)
    expect(card.get_by_text("it names no task of Forager")).to_be_visible()
    expect(card.get_by_text("<b>is</b> this")).to_be_visible()
    page.add_script_tag(path=AXE)
    assert accessibility(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 1
    card.get_by_role("button", name="Put back all 1").click()
    until(lambda: queues.depth(crawl) == 1 and queues.depth(queues.names.dead) == 0, "it is put back")
    noted = "SELECT who FROM audit_log WHERE action = 'queue.redrive'"
    until(lambda: bool(forager.ask(noted)), "it is noted, which it is after it was done")
    assert forager.value(noted) == "api:alice"

    wire.cut()
    expect(card.get_by_text("broker away")).to_be_visible(timeout=20_000)
    expect(card.get_by_text("does not answer")).to_be_visible()


def test_without_a_broker_there_is_no_card(forager: Forager, page: Page) -> None:
    show_workers(forager, page)
    expect(page.get_by_role("heading", name="Who holds domains")).to_be_visible()
    expect(page.get_by_role("heading", name="Queues")).to_have_count(0)
