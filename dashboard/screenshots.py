"""Pictures of every page of the dashboard: an instance is started, crawls the playground, and is looked at.

    python -m dashboard.screenshots [FOLDER]      by default screenshots/, which is not kept

So that nothing is empty, the shop is crawled on several of its days first, and the blog through proxies, one of them
dead. At desktop and phone width, light and dark. Prints what the browser complained about. Those of the README and of
the guides are copies: overview.desktop.light.png and domains-….desktop.light.png.
"""

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, expect, sync_playwright
from tests.proxies import RealProxy

from forager.fetch.browser import find_chromium
from forager_playground import start_playground

PASSWORD = "seven quiet otters"  # noqa: S105 (of an instance that lives for a minute)
SITES = ["shop=60", "blog=40", "docs=40", "gallery=24", "strict=10", "slow=6", "flaky=20", "trap=8"]
HOSTS = "127.58.0.1"
DAYS = 6
"""Of the shop, whose prices change; on the last the rest of the web is there, too."""
LOOKS = [("desktop", 1440, 900), ("phone", 390, 844)]
PAGES = ["/", "/domains", "/profiles", "/profiles/shops", "/tasks", "/runs", "/seeds", "/search?q=teapot", "/pages"]
PAGES += ["/products", "/images", "/alerts", "/errors", "/workers", "/schedule", "/proxies", "/settings", "/users"]
PAGES += ["/audit", "/account"]
PAGES += ["/search?q=teapot&in=products", "/products?view=table", "/alerts?view=rules", "/runs?start=yes", "/nowhere"]
TABS = {
    "/domains/": ("why", "visits", "errors", "robots", "history", "settings"),
    "/pages/": ("links", "versions", "why"),
}
"""Of these pages every view is looked at, too."""
ONE_OF_EACH = {
    "/domains/": ("/api/domains?limit=1", "name"),
    "/tasks/": ("/api/tasks?limit=1", "id"),
    "/pages/": ("/api/pages?limit=1&sort=found", "id"),
    "/products/": ("/api/products/changes?limit=1", "product_id"),
    "/images/": ("/api/images?limit=1", "id"),
    "/runs/": ("/api/runs?limit=1", "id"),
    "/errors/": ("/api/errors?limit=1", "fingerprint"),
}
JOBS = ("index", "rollup", "errors", "score", "series")
"""Done before the pictures are taken, so that no page says that something is counted later."""
CRAWLED_S = 60.0
JOBS_S = 15.0
SETTLED_MS = 1000


class Instance:
    """A running `forager up`."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._cookie = self._csrf = ""

    def ask(self, path: str, body: Any = None) -> Any:
        headers = {"Origin": self.address, "Content-Type": "application/json"}
        headers |= {"Cookie": self._cookie, "X-CSRF-Token": self._csrf} if self._cookie else {}
        data = json.dumps(body).encode() if body is not None else None
        with urllib.request.urlopen(urllib.request.Request(self.address + path, data, headers), timeout=30) as answer:  # noqa: S310 (our own)
            found = json.load(answer)
            if cookie := answer.headers.get("Set-Cookie"):
                self._cookie, self._csrf = cookie.partition(";")[0], found["csrf_token"]
            return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        found: int = probe.getsockname()[1]
        return found


def environ_of(home: str) -> dict[str, str]:
    settings = {"HOME": home, "FETCH_ALLOW_NETWORKS": "127.0.0.0/8", "POLITENESS_DELAY": "0.1"}
    settings |= {"IMAGES_POLICY": "download", "STORAGE_CONTENT_POLICY": "snapshot"}
    settings |= {"API_RATE_LIMIT_ADMIN": "100000", "API_RATE_LIMIT_ANONYMOUS": "100000"}
    return os.environ | {f"FORAGER_{name}": value for name, value in settings.items()}


def forager(home: str, *words: str) -> str:
    command = [sys.executable, "-m", "forager", *words]
    return subprocess.run(command, env=environ_of(home), check=True, stdout=subprocess.PIPE, text=True).stdout


def live_through_days(home: str, port: int) -> None:
    """The shop's prices as somebody sees them who comes by every day."""
    for day in range(DAYS - 1):
        with start_playground(SITES[:1], host_base=HOSTS, port=port, day=day) as shop:
            visit = ("refresh", "--now") if day else ("crawl", *shop.urls)
            forager(home, *visit, "--quiet", "--delay", "0")


@contextmanager
def proxied(home: str, url: str) -> Iterator[None]:
    """Its domain is known, and is asked through two proxies that work and one that is dead."""
    forager(home, "seed", "--quiet", url)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    proxies = [RealProxy(host=f"127.59.0.{number}") for number in (1, 2, 3)]
    try:
        for proxy, country, cost in zip(proxies, ("DE", "NL", "US"), ("4.50", "3", "2"), strict=True):
            asyncio.run_coroutine_threadsafe(proxy.start(), loop).result()
            forager(
                home,
                "proxies",
                "add",
                proxy.url(),
                "--country",
                country,
                "--monthly-cost",
                cost,
                "--provider",
                "Harbour",
            )
        asyncio.run_coroutine_threadsafe(proxies[2].stop(), loop).result()
        forager(home, "proxies", "assign", url, "--provider", "Harbour")
        yield
    finally:
        for proxy in proxies:
            asyncio.run_coroutine_threadsafe(proxy.stop(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@contextmanager
def running(home: str) -> Iterator[Instance]:
    port = free_port()
    said = Path(home) / "said.txt"
    with said.open("wb") as stderr:
        command = [sys.executable, "-m", "forager", "up", "--port", str(port)]
        up = subprocess.Popen(command, env=environ_of(home), stderr=stderr)
    try:
        while not (link := re.search(r"/accept#(\S+)", said.read_text())):
            if up.poll() is not None:
                raise SystemExit(said.read_text())
            time.sleep(0.2)
        instance = Instance(f"http://127.0.0.1:{port}")
        for _ in range(200):
            try:
                instance.ask("/health")
                break
            except OSError:
                time.sleep(0.2)
        instance.ask("/api/auth/accept", {"secret": link[1], "name": "alice", "password": PASSWORD})
        yield instance
    finally:
        up.terminate()
        up.wait(60)


def complain(message: ConsoleMessage) -> None:
    if message.type == "error" and "401" not in message.text:  # that one asks who we are
        sys.stderr.write(f"{message.location.get('url', '')}: {message.text}\n")


def photograph(browser: Browser, instance: Instance, paths: list[str], folder: Path) -> None:
    for look, width, height in LOOKS:
        for scheme in ("light", "dark"):
            context = browser.new_context(
                viewport={"width": width, "height": height}, color_scheme=scheme, base_url=instance.address
            )
            page = context.new_page()
            page.on("console", complain)
            page.goto("/")
            page.wait_for_selector("button[type=submit]")
            page.screenshot(path=folder / f"sign-in.{look}.{scheme}.png")
            page.get_by_label("Name").fill("alice")
            page.get_by_label("Password").fill(PASSWORD)
            page.get_by_role("button", name="Sign in").click()
            page.wait_for_selector("#main")
            for path in paths:
                page.goto(path)
                page.wait_for_selector("main")
                expect(page.locator("[aria-label=Loading]")).to_have_count(0, timeout=30_000)
                page.wait_for_timeout(SETTLED_MS)  # lines are drawn, pictures have come
                name = re.sub(r"[^\w-]+", "-", path).strip("-") or "overview"
                page.screenshot(path=folder / f"{name}.{look}.{scheme}.png", full_page=look == "phone")
            context.close()


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="forager-look-") as home, sync_playwright() as playwright:
        os.chmod(home, 0o711)  # noqa: S103 (the account that root lends to PostgreSQL goes through)
        live_through_days(home, port)
        with (
            start_playground(SITES, host_base=HOSTS, port=port, day=DAYS - 1) as web,
            proxied(home, web.urls[1]),
            running(home) as instance,
        ):
            instance.ask("/api/frontier/seed", {"urls": list(web.urls)})
            forager(home, "domain", web.urls[0], "reset")
            forager(home, "profiles", "join", "shops", web.urls[0])
            forager(home, "profiles", "set", "shops", "--delay", "0.2s", "--exclude", "*/search*", "--max-pages", "500")
            time.sleep(CRAWLED_S)
            for job in JOBS:
                instance.ask(f"/api/admin/schedule/{job}/run", {})
            time.sleep(JOBS_S)
            found = {path: instance.ask(source)["items"] for path, (source, _) in ONE_OF_EACH.items()}
            ones = [path + str(items[0][ONE_OF_EACH[path][1]]) for path, items in found.items() if items]
            ones += [
                f"{one}?tab={tab}"
                for one in ones
                for path, tabs in TABS.items()
                if one.startswith(path)
                for tab in tabs
            ]
            root = ["--no-sandbox"] if os.geteuid() == 0 else []
            browser = playwright.chromium.launch(executable_path=str(find_chromium()), args=root)
            photograph(browser, instance, PAGES + ones, folder)
            browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "screenshots"))
