"""Every file of examples/ does what it says, on the playground."""

import csv
import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.acceptance.conftest import HOST_BASE, NETWORK, OpenWeb
from tests.acceptance.stage import PATIENCE_S, Forager, until
from tests.ports import free_port

from forager.config.loader import load
from forager_playground import start_playground

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(600)]

EXAMPLES = Path(__file__).parents[2] / "examples"
TRIED = {
    *("crawl-a-site.sh", "watch-prices.sh", "query_pages.py", "read_pages.py", "list_domains.py"),
    *("forager.toml", "README.md"),
}
SHOP = ("shop=12",)
HARM = """
import ctypes, forager

calls = 0

@forager.hookimpl
def extract_records(page):
    global calls
    calls += "/p/" in page.url
    if calls == 3:
        ctypes.string_at(0)
    return [{"quotient": calls / (calls - 2)}]
"""


def run(forager: Forager, name: str, *arguments: str, **environ: str) -> str:
    """Returns what an example printed, run as a person does it."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    own = {"PATH": path, "FORAGER_POLITENESS_NO_DELAY_HOSTS": NETWORK}
    command = [sys.executable] if name.endswith(".py") else []
    ended = subprocess.run(
        [*command, str(EXAMPLES / name), *arguments],
        env=os.environ | forager.environ | own | environ,
        cwd=forager.folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_a_site_is_crawled_exported_queried_and_listed(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web(*SHOP)
    (url,) = web.urls
    run(forager, "crawl-a-site.sh", url)
    pages = {json.loads(line)["url"] for line in (forager.folder / "pages.jsonl").read_text("utf-8").splitlines()}
    assert pages == web.key.expected_success()
    with (forager.folder / "images.csv").open(encoding="utf-8", newline="") as file:
        assert {row["page_url"] for row in csv.DictReader(file)} <= pages

    assert f"{len(pages):>8}  success" in run(forager, "query_pages.py")

    product, facts = next(iter(web.key.expected_products().items()))
    assert facts["price"] in run(forager, "read_pages.py", product)

    address, token = serve(forager)
    listed = run(forager, "list_domains.py", address, FORAGER_TOKEN=token)
    assert listed == f"{web.hosts[0]}\texhausted\t{len(pages)}\n"


def serve(forager: Forager) -> tuple[str, str]:
    """An API, and a token of its first user."""
    forager.do("user", "invite", "alice", "--role", "admin")
    address = f"http://127.0.0.1:{(port := free_port())}"
    api = forager.spawn("api", "--port", str(port))
    until(lambda: address in api.said, "the API listens")
    return address, forager.do("token", "create", "alice", "examples").strip()


def test_prices_are_watched(forager: Forager) -> None:
    with start_playground(SHOP, host_base=HOST_BASE, day=0) as running:
        (url,) = running.urls
        first = running.answer_key.expected_products()
        run(forager, "watch-prices.sh", url, "1s")
    port = int(url.rstrip("/").rpartition(":")[2])
    with start_playground(SHOP, host_base=HOST_BASE, port=port, day=1) as running:
        second = running.answer_key.expected_products()
        said = run(forager, "watch-prices.sh", url)
    changed = [page for page in first if first[page]["price"] != second[page]["price"]]
    assert changed
    assert all(second[page]["price"] in said for page in changed)


def test_a_plugin_finds_records_drops_links_and_adds_a_command(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web(*SHOP)
    (url,) = web.urls
    forager.do("test", str(EXAMPLES / "plugins"))
    home = Path(forager.environ["FORAGER_HOME"])
    shutil.copytree(EXAMPLES / "plugins", home / "plugins", ignore=shutil.ignore_patterns("__pycache__"))
    (home / "plugins" / "harm.py").write_text(HARM)
    run(forager, "crawl-a-site.sh", url)
    pages = {json.loads(line)["url"] for line in (forager.folder / "pages.jsonl").read_text("utf-8").splitlines()}
    whole = web.key.expected_success()
    assert pages == {page for page in whole if "sort=" not in page and "brand=" not in page} < whole

    offers = [json.loads(line) for line in forager.do("export", "records").splitlines()]
    found = [row for row in offers if row["extractor"] == "copper_oak"]
    assert {row["kind"] for row in found} == {"offer"}
    assert len({row["key"] for row in found}) == 12, "no list was read without it"
    reasons = forager.do("why", f"{url}c/kettles-1?sort=price")
    assert "left out by the URL rule of the plug-in copper_oak" in reasons
    assert len(forager.do("cheapest", "--number", "2").splitlines()) == 2
    plugins = {row["name"]: row for row in json.loads(forager.do("plugins", "--json"))}
    assert (plugins["copper_oak"]["state"], plugins["copper_oak"]["errors"]) == ("loaded", 0)
    harmed = {failure["hook"]: failure for failure in plugins["harm"]["failures"]}
    assert harmed["extract_records"]["errors"] >= 1
    assert "not called any more" in harmed["crash"]["error"]
    forager.do("check")


def test_the_settings_are_settings() -> None:
    file = EXAMPLES / "forager.toml"
    wanted = tomllib.loads(file.read_text(encoding="utf-8"))
    assert load(environ={"FORAGER_CONFIG": str(file)}).model_fields_set == wanted.keys()


def test_every_example_is_tried() -> None:
    assert {path.name for path in EXAMPLES.iterdir() if path.is_file()} == TRIED
