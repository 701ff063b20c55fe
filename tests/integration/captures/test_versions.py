"""Versions of a page as a person has them: looked up, written, compared, packed, and read for the history of prices."""

import gzip
import hashlib
import json
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.stage import Forager, until
from tests.integration.storage.kept import home_of
from tests.integration.storage.static_site import StaticSite, serve_answers
from warcio.archiveiterator import ArchiveIterator

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(240)]
PRICES = ("10.00", "11.00", "12.50")
HISTORY = "SELECT price::text, is_first, is_backfill FROM product_prices ORDER BY seen_at, id"
SETTLED = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint > max(xmin::text::bigint) FROM product_prices"
HTML = [("Content-Type", "text/html; charset=utf-8")]


def lamp(price: str) -> bytes:
    item = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": "Lamp",
        "offers": {
            "@type": "Offer",
            "price": price,
            "priceCurrency": "EUR",
            "availability": "https://schema.org/InStock",
        },
    }
    return (
        f'<html><head><title>Lamp</title><script type="application/ld+json">{json.dumps(item)}</script></head>'
        f"<body><h1>Lamp</h1><p>\x1b[31mGood, {price} EUR</p></body></html>"
    ).encode()


@pytest.fixture
def site() -> Iterator[tuple[StaticSite, dict[str, Any]]]:
    answers: dict[str, Any] = {"/lamp": (200, HTML, lamp(PRICES[0]))}
    with serve_answers(answers) as running:
        yield running, answers


@pytest.fixture
def shop(forager: Forager, site: tuple[StaticSite, dict[str, Any]]) -> str:
    """A page with three versions: two snapshots and a record of an archive."""
    running, answers = site
    url = f"{running.url}/lamp"
    forager.environ["FORAGER_FETCH_ALLOW_NETWORKS"] = "127.0.0.0/8"
    forager.start(url, "--keep", "snapshot", "--delay", "0", "-o", "out.jsonl").finish()
    for price, policy in zip(PRICES[1:], ("snapshot", "archive"), strict=True):
        answers["/lamp"] = (200, HTML, lamp(price))
        forager.do("domain", running.url, "set", "--keep", policy)
        forager.do("replay", "--refetch", "--url", url)
        forager.do("refresh", "--delay", "0")
    return url


def test_versions_are_listed_written_and_compared(forager: Forager, shop: str) -> None:
    rows = json.loads(forager.do("captures", shop, "--json"))
    assert [row["statuscode"] for row in rows] == [200, 200, 200]
    assert [row["filename"] is None for row in rows] == [True, True, False]
    assert len({row["digest"] for row in rows}) == 3
    lines = forager.do("captures", shop.removesuffix("lamp") + "*", "--cdx").splitlines()
    assert [line.split(" ")[1] for line in lines] == [row["timestamp"] for row in rows]
    assert lines[0].split(" ")[2:5] == [shop, "text/html", "200"]
    for match in ("host", "domain"):
        assert len(forager.do("captures", shop, "--match", match, "--cdx").splitlines()) == 3
    assert forager.do("captures", shop, "--from", "2099", "--cdx") == ""

    forager.do("body", shop, "-o", "newest.html")
    assert (forager.folder / "newest.html").read_bytes() == lamp(PRICES[2])
    second = forager.ask("SELECT id, completed_at FROM crawl_tasks WHERE body_ref IS NOT NULL ORDER BY id")[1]
    assert lamp(PRICES[1]).decode() == forager.do("body", shop, "--at", second["completed_at"].isoformat())
    assert lamp(PRICES[1]).decode() == forager.do("body", str(second["id"]))
    changed = forager.do("body", shop, "--diff")
    assert "-<p>\x1b[31mGood, 11.00 EUR</p>\n" in changed
    assert "+<p>\x1b[31mGood, 12.50 EUR</p>\n" in changed
    first = forager.value("SELECT min(completed_at) FROM crawl_tasks WHERE body_ref IS NOT NULL").isoformat()
    assert "-<p>\x1b[31mGood, 10.00 EUR</p>\n" in forager.do("body", shop, "--diff", "--against", first)


def test_a_version_that_is_gone_is_told_so(forager: Forager, shop: str) -> None:
    early = forager.run("body", shop, "--at", "2020-01-01")
    assert early.returncode == 3
    assert "the oldest is of" in early.stderr
    none = forager.run("body", "999999")
    assert none.returncode == 3
    first = forager.value("SELECT min(id) FROM crawl_tasks WHERE body_ref IS NOT NULL")
    for path in (home_of(forager) / "bodies").rglob("*.zst"):
        path.unlink()
    missing = forager.run("body", str(first))
    assert missing.returncode == 3
    assert "is not in the store" in missing.stderr
    assert "\n" not in missing.stderr.strip()
    forager.ask("UPDATE bodies SET dropped_at = now() WHERE kind = 'snapshot'")
    pruned = forager.run("body", str(first))
    assert pruned.returncode == 3
    assert "was deleted when its time was over" in pruned.stderr
    assert len(json.loads(forager.do("captures", shop, "--json"))) == 1
    gone = forager.run("body", str(first), "-o", "gone.html")
    assert gone.returncode == 3
    assert not (forager.folder / "gone.html").exists()


def test_a_wacz_has_every_version_with_its_checksums(forager: Forager, shop: str) -> None:
    forager.do("export", "wacz", "-o", "all.wacz")
    with zipfile.ZipFile(forager.folder / "all.wacz") as package:
        content = {name: package.read(name) for name in package.namelist()}
        stored = {each.filename for each in package.infolist() if each.compress_type == zipfile.ZIP_STORED}
        assert not any(each.extra for each in package.infolist()), "viewers expect no ZIP64 headers"
    assert {"archive/data-00001.warc.gz", "indexes/index.cdx.gz"} <= stored
    listed = json.loads(content["datapackage.json"])["resources"]
    assert {each["path"] for each in listed} == set(content) - {"datapackage.json", "datapackage-digest.json"}
    for each in listed:
        assert each["hash"] == "sha256:" + hashlib.sha256(content[each["path"]]).hexdigest()
        assert each["bytes"] == len(content[each["path"]])
    digest = json.loads(content["datapackage-digest.json"])
    assert digest["hash"] == "sha256:" + hashlib.sha256(content["datapackage.json"]).hexdigest()
    warc = content["archive/data-00001.warc.gz"]
    index = gzip.decompress(content["indexes/index.cdx.gz"]).decode().splitlines()
    assert index == sorted(index)
    for line, price in zip(index, PRICES, strict=True):
        fields = json.loads(line.split(" ", 2)[2])
        member = warc[fields["offset"] : fields["offset"] + fields["length"]]
        record = next(iter(ArchiveIterator(BytesIO(member), check_digests="raise")))
        assert record.rec_type == "response"
        assert record.content_stream().read() == lamp(price)
    pages = [json.loads(line) for line in content["pages/pages.jsonl"].splitlines()]
    assert [page.get("title") for page in pages] == ["All pages", "Lamp", "Lamp", "Lamp"]
    assert [price for page, price in zip(pages[1:], PRICES, strict=True) if price not in page["text"]] == []


def test_older_versions_fill_the_history_in_their_place_and_once(forager: Forager, shop: str) -> None:
    assert [row["price"] for row in forager.ask(HISTORY)] == ["10.0000", "11.0000", "12.5000"]
    told = json.loads(forager.do("replay", "--all-versions", "--json"))
    assert (told["tally"]["versions"], told["tally"]["prices"]) == (2, 0)
    forager.ask("DELETE FROM products")  # as if no parser had understood them then, and nothing was sealed
    forager.ask("TRUNCATE seals, seal_marks")
    told = json.loads(forager.do("replay", "--all-versions", "--json"))
    assert told["tally"]["prices"] == 2
    filled = [tuple(row) for row in forager.ask(HISTORY)]
    assert filled == [("10.0000", False, True), ("11.0000", False, True), ("12.5000", True, False)]
    assert forager.value("SELECT price::text FROM products") == "12.5000"
    forager.do("replay", "--all-versions")
    at = forager.value("SELECT min(completed_at) FROM crawl_tasks WHERE body_ref IS NOT NULL").isoformat()
    forager.do("replay", "--at", at)
    assert [tuple(row) for row in forager.ask(HISTORY)] == filled
    assert forager.do("products", "changes", "--json").strip() == "[]", "it is no event"
    shown = json.loads(forager.do("replay", "--shadow", "--at", at, "--json"))
    assert shown["tally"]["fields"]["product.price"] == {"changed": 1}
    forager.check(deep=True)


def test_increments_and_partitions_add_what_is_new(forager: Forager, shop: str) -> None:
    def export(*options: str) -> str:
        return forager.run("export", "prices", "--since", "last", *options).stderr

    def settle() -> None:
        """Waits until no older transaction of this server, which other tests share, holds the prices back."""
        until(lambda: forager.value(SETTLED), "the prices are settled")

    settle()
    assert "3 prices written" in export("-o", "p-{n}.jsonl")
    assert "0 prices that are new or changed" in export("-o", "p-{n}.jsonl")
    assert "3 prices written to lake, 1 partition" in export("--partition-by", "day", "-o", "lake")
    forager.ask("DELETE FROM product_prices WHERE price = 11")
    forager.do("replay", "--all-versions")
    settle()
    assert "1 price that are new" in export("-o", "p-{n}.jsonl").replace("prices", "price")
    assert [len((forager.folder / f"p-{n:06}.jsonl").read_text().splitlines()) for n in range(3)] == [3, 0, 1]
    export("--partition-by", "day", "-o", "lake")
    assert sorted(path.name for path in Path(forager.folder, "lake").rglob("*.parquet")) == [
        "part-0.parquet",
        "part-1.parquet",
    ]
    other = forager.run("export", "tasks", "--since", "last", "-o", "p-{n}.jsonl")
    assert other.returncode == 2
    assert "use another target" in other.stderr
