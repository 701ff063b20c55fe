# ruff: noqa: E501
"""Pages written like today's apps, in a real Chromium: GraphQL by POST, lists that grow, dialogs, components with a
shadow DOM. What they ask for is seen by a real server."""

import asyncio
import io
import json
from collections.abc import AsyncIterator
from typing import NamedTuple

import pytest
import pytest_asyncio
from PIL import Image
from tests.listening import listening

from forager.engine.rendering import Rendered, Renderer, RenderOptions
from forager.fetch.browser import Browser
from forager.fetch.client import open_client
from forager.fetch.models import Fetched, Rendering, RenderSteps
from forager.parsing.models import Reading
from forager.parsing.page import read
from forager.politeness.guard import AddressGuard
from forager.robots.rules import parse

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.xdist_group("browser"),
    pytest.mark.asyncio(loop_scope="package"),
]
HOST, OTHER_HOST = "127.88.3.1", "127.88.3.2"


class Asked(NamedTuple):
    method: str
    host: str
    target: str
    headers: dict[str, str]
    body: bytes


class Api:
    """A server of data on every address of loopback; remembers all requests."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                method, target, _ = line.decode().split()
                headers = {}
                while head := (await reader.readline()).decode().strip():
                    name, _, value = head.partition(":")
                    headers[name.lower()] = value.strip()
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                self.asked.append(Asked(method, headers["host"].partition(":")[0], target, headers, body))
                kind, answer = self._answer(method, target, body)
                writer.write(
                    f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(answer)}\r\n\r\n".encode()
                    + answer
                )
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()

    def _answer(self, method: str, target: str, body: bytes) -> tuple[str, bytes]:
        if target == "/graphql" and method == "POST":
            name = json.loads(body)["variables"]["name"]
            return "application/json", json.dumps({"data": {"product": {"title": f"Lamp {name}"}}}).encode()
        if target.startswith("/items?page="):
            page = int(target.rpartition("=")[2])
            items = [f"item {page}-{number}" for number in range(10)] if page < 5 else []
            return "application/json", json.dumps(items).encode()
        if target == "/style.css":
            return "text/css", b"body { background: rgb(10, 200, 30) }"
        return "application/json", b"{}"


@pytest_asyncio.fixture(loop_scope="package")
async def api() -> AsyncIterator[Api]:
    served = Api()
    async with listening(served.serve, "0.0.0.0") as served.port:
        yield served


@pytest_asyncio.fixture(loop_scope="package")
async def renderer(browser: Browser) -> AsyncIterator[Renderer]:
    async with open_client(
        user_agent="Forager/test",
        check_address=AddressGuard(("127.88.0.0/16",), (80, 443)).check_ip,
        timeout_s=30,
        connect_timeout_s=30,
        max_bytes=1_000_000,
    ) as client:
        client.enter(HOST)
        yield Renderer(client, browser)


async def render(
    renderer: Renderer, api: Api, html: str, *, robots: str = "", path: str = "/", **steps: object
) -> Rendered:
    body = f"<!doctype html><html lang=en><title>App</title>{html}".encode()
    page = Fetched(f"http://{HOST}:{api.port}{path}", 200, {"content-type": "text/html"}, body, len(body), 1)
    options = RenderOptions(Rendering.ALWAYS, parse(robots).rules_for("Forager"), RenderSteps(**steps))  # type: ignore[arg-type]
    found = await renderer.draw(page, options)
    assert found is not None
    return found


def reading_of(rendered: Rendered) -> Reading:
    return read(rendered.page, keyword_words=1000)


QUERY = """<div id=root></div><script>
fetch("TARGET", {method: "POST", headers: {"Content-Type": "application/json", "X-Api-Key": "k1"},
  body: JSON.stringify({query: "query($name: String) { product(name: $name) { title } }", variables: {name: "Blue"}})})
  .then(answer => answer.json())
  .then(found => document.getElementById("root").innerHTML = `<h1>${found.data.product.title}</h1><a href="/p/1">more</a>`)
  .catch(() => document.getElementById("root").textContent = "nothing came");
</script>"""


async def test_a_graphql_query_is_posted_to_the_own_site(renderer: Renderer, api: Api) -> None:
    found = reading_of(await render(renderer, api, QUERY.replace("TARGET", "/graphql")))
    assert found.headings == "Lamp Blue"
    assert [link.href for link in found.links] == ["/p/1"]
    (asked,) = api.asked
    assert (asked.method, asked.target) == ("POST", "/graphql")
    assert json.loads(asked.body)["variables"] == {"name": "Blue"}
    assert asked.headers["content-type"] == "application/json"
    assert asked.headers["x-api-key"] == "k1"
    assert asked.headers["user-agent"] == "Forager/test"
    assert asked.headers["origin"] == f"http://{HOST}:{api.port}"


async def test_nothing_is_posted_to_other_sites(renderer: Renderer, api: Api) -> None:
    other = f"http://{OTHER_HOST}:{api.port}/graphql"
    assert "nothing came" in reading_of(await render(renderer, api, QUERY.replace("TARGET", other))).text
    assert [asked for asked in api.asked if asked.method == "POST"] == []


async def test_robots_txt_holds_for_what_is_posted(renderer: Renderer, api: Api) -> None:
    robots = "User-agent: *\nDisallow: /graphql"
    found = await render(renderer, api, QUERY.replace("TARGET", "/graphql"), robots=robots)
    assert "nothing came" in reading_of(found).text
    assert api.asked == []


async def test_uploads_and_other_methods_are_refused(renderer: Renderer, api: Api) -> None:
    script = """<p id=out></p><script>
    const tries = [fetch("/a", {method: "POST", body: "x".repeat(100000)}), fetch("/b", {method: "DELETE"}),
      fetch("/c", {method: "PUT", body: "x"})];
    Promise.allSettled(tries).then(all => document.getElementById("out").textContent = all.map(one => one.status).join());
    </script>"""
    assert reading_of(await render(renderer, api, script)).text == "rejected,rejected,rejected"
    assert api.asked == []


LIST = """<style>#list div { height: 200px }</style><div id=list></div><div id=end></div><script>
let page = 0, isLoading = false;
async function more() {
  if (isLoading) return; isLoading = true;
  const items = await (await fetch("/items?page=" + page)).json();
  page += 1;
  for (const item of items) { const row = document.createElement("div"); row.textContent = item; list.append(row); }
  isLoading = false;
}
const list = document.getElementById("list");
new IntersectionObserver(seen => { if (seen.some(one => one.isIntersecting)) more() }).observe(document.getElementById("end"));
</script>"""


async def test_a_list_grows_while_it_is_scrolled(renderer: Renderer, api: Api) -> None:
    first = reading_of(await render(renderer, api, LIST, path="/list"))
    assert "item 0-9" in first.text
    assert "item 2-0" not in first.text
    all_of_it = reading_of(await render(renderer, api, LIST, path="/list", scroll=20))
    assert "item 4-9" in all_of_it.text
    assert len([asked for asked in api.asked if asked.target == "/items?page=5"]) <= 1


DIALOG = """<div id=wall>We use cookies. <button class=accept>Accept all</button></div><script>
document.querySelector(".accept").onclick = () => {
  document.getElementById("wall").remove();
  setTimeout(() => document.body.insertAdjacentHTML("beforeend", "<p>The article</p><button id=more>More</button>"), 300);
  setTimeout(() => document.getElementById("more").onclick = () => document.body.append("The rest of it"), 310);
};
</script>"""


async def test_elements_are_clicked_in_order(renderer: Renderer, api: Api) -> None:
    clicked = reading_of(await render(renderer, api, DIALOG, click=(".accept", "#missing", "#more")))
    assert "The article" in clicked.text
    assert "The rest of it" in clicked.text
    assert "We use cookies" not in clicked.text


async def test_a_click_that_leads_elsewhere_leaves_the_page(renderer: Renderer, api: Api) -> None:
    found = reading_of(await render(renderer, api, "<p>Here</p><a id=away href=/away>Away</a>", click=("#away",)))
    assert found.text.startswith("Here")
    assert [(link.href, link.rel) for link in found.links] == [("/away", "a")]


async def test_the_page_is_read_when_its_element_is_there(renderer: Renderer, api: Api) -> None:
    late = """<p>Loading</p><script>
    setTimeout(() => document.body.insertAdjacentHTML("beforeend", "<p class=price>9.99</p>"), 1500);</script>"""
    assert "9.99" not in reading_of(await render(renderer, api, late)).text
    assert "9.99" in reading_of(await render(renderer, api, late, wait_for=".price")).text


async def test_an_invalid_selector_is_no_rendering(renderer: Renderer, api: Api) -> None:
    body = b"<p>x"
    page = Fetched(f"http://{HOST}:{api.port}/", 200, {"content-type": "text/html"}, body, len(body), 1)
    steps = RenderSteps(wait_for="p[[")
    assert await renderer.draw(page, RenderOptions(Rendering.ALWAYS, None, steps)) is None


COMPONENTS = """<x-card><span slot=title>Slotted title</span><a href=/light>light link</a></x-card><script>
customElements.define("x-price", class extends HTMLElement {
  constructor() { super(); this.attachShadow({mode: "open"}).innerHTML = "<b>9.99 EUR</b> <a href=/inner>inner link</a>" }
});
customElements.define("x-card", class extends HTMLElement {
  constructor() { super(); this.attachShadow({mode: "open"}).innerHTML =
    "<h2><slot name=title>No title</slot></h2><p>In the shadow</p><x-price></x-price><slot></slot><slot name=no>Default</slot>" }
});
</script>"""


async def test_shadow_roots_are_read_where_people_see_them(renderer: Renderer, api: Api) -> None:
    found = reading_of(await render(renderer, api, COMPONENTS))
    assert found.headings == "Slotted title"
    assert "In the shadow" in found.text
    assert "9.99 EUR" in found.text
    assert "Default" in found.text
    assert "No title" not in found.text
    assert [link.href for link in found.links] == ["/inner", "/light"]


async def test_elements_in_shadow_roots_are_waited_for_and_clicked(renderer: Renderer, api: Api) -> None:
    page = """<x-wall></x-wall><script>customElements.define("x-wall", class extends HTMLElement {
    connectedCallback() { const root = this.attachShadow({mode: "open"}); root.innerHTML = "<button>Yes</button>";
      root.querySelector("button").onclick = () => document.body.append("Behind the wall"); } });</script>"""
    found = await render(renderer, api, page, wait_for="x-wall, button", click=("button",))
    assert "Behind the wall" in reading_of(found).text


async def test_a_screenshot_shows_the_styled_page(renderer: Renderer, api: Api) -> None:
    html = f'<link rel=stylesheet href="http://{HOST}:{api.port}/style.css"><p style="height:3000px">Tall</p>'
    found = await render(renderer, api, html, path="/shot", screenshot=True)
    assert found.screenshot is not None
    with Image.open(io.BytesIO(found.screenshot)) as picture:
        assert picture.format == "JPEG"
        assert picture.height > 2500
        red, green, blue = picture.convert("RGB").getpixel((5, 2000))  # type: ignore[misc]
    assert abs(red - 10) + abs(green - 200) + abs(blue - 30) < 40
    assert (await render(renderer, api, html, path="/shot")).screenshot is None
