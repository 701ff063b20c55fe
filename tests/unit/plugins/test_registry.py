"""What is found, loaded and called, and what failures leave behind."""

import sys
from pathlib import Path

import pytest
from tests.builders import a_fetched
from tests.unit.plugins.conftest import Install

from forager import clock
from forager.parsing import page as parser
from forager.parsing.models import Reading
from forager.parsing.sites import AUTO, GENERIC, parser_for, parsers
from forager.plugins import registry
from forager.plugins.discovery import GROUP
from forager.plugins.models import BUILT_IN, PluginConfig
from forager.plugins.reference import write_reference
from forager.plugins.registry import ALL, PluginRegistry
from forager.plugins.service import combine
from forager.plugins.store import ErrorRow

PAGE = b"""<!doctype html><html lang="en"><title>Kettles</title><base href="/shop/"><body><h1>Kettle</h1>
<b class="p">12,50 EUR</b>
<p>A kettle of copper that boils water in no time at all, for a quiet house.</p><a href="x">more</a></body></html>"""
VALUES = {
    "title": "page.title",
    "language": "page.language",
    "links": "page.links",
    "b": "page.document.select_one('.p').text",
    "html": "page.html[:15]",
    "bytes": "len(page.body)",
    "type": "page.headers['content-type']",
    "data": "page.structured_data",
    "url": "page.url",
    "canonical": "page.canonical",
    "text": "'copper' in page.text",
}
RECORDS = "@forager.hookimpl\ndef extract_records(page):\n    return {}"


def read(parser_name: str = AUTO, url: str = "http://shop.example/kettle") -> Reading:
    return parser.read(
        a_fetched(200, PAGE, url, content_type="text/html"),
        keyword_words=200,
        parser_name=parser_name,
        extractors=(AUTO,),
    )


def test_a_page_has_what_the_reference_says(install: Install) -> None:
    install(shop=RECORDS.format(f"[{{{', '.join(f'{name!r}: {value}' for name, value in VALUES.items())}}}]"))
    reading = read()
    assert not reading.plugin_errors
    (record,) = reading.records
    assert (record.extractor, record.kind, record.key) == ("shop", "shop", None)
    assert record.fields == {
        "title": "Kettles",
        "language": "en",
        "links": [["http://shop.example/shop/x", "more", "a"]],
        "b": "12,50 EUR",
        "html": "<!doctype html>",
        "bytes": len(PAGE),
        "type": "text/html",
        "data": [],
        "url": "http://shop.example/kettle",
        "canonical": None,
        "text": True,
    }


def test_records_are_what_the_database_can_hold(install: Install) -> None:
    text = "import datetime, decimal\n" + RECORDS.format(
        "[{'kind': 'k', 'key': 7, 'fields': {'n\\0': 'a\\0b\\ud800', 'd': datetime.date(2024, 1, 2), 'big': 2 ** 70,"
        " 'p': decimal.Decimal('1.50'), 'nan': float('nan'), 's': (1, 2)}, 'evidence': {'d': 'css b'}}]"
    )
    install(shop=text)
    (record,) = read().records
    assert (record.kind, record.key, record.evidence) == ("k", "7", {"d": "css b"})
    assert record.fields == {"n": "ab", "d": "2024-01-02", "big": str(2**70), "p": "1.50", "nan": None, "s": [1, 2]}


def test_a_product_comes_from_the_parser_that_is_named_or_made_for_the_host(install: Install) -> None:
    install(
        shop="""
HOSTS = r"(^|\\.)shop\\.example$"
VERSION = 3
@forager.hookimpl
def find_product(page):
    return {"name": "Kettle", "price": page.document.select_one(".p").text, "gtin": None, "image_urls": "/k.png"}
"""
    )
    assert {GENERIC, "amazon", "shop"} == set(parsers())
    assert parser_for(AUTO, "www.shop.example").name == "shop"
    assert parser_for(AUTO, "other.example").name == GENERIC
    for reading in (read(), read("shop", "http://other.example/x")):
        product = reading.product
        assert product is not None
        assert (product.name, str(product.price), product.currency) == ("Kettle", "12.50", "EUR")
        assert (product.parser_name, product.parser_version) == ("shop", 3)
        assert product.image_urls[0].endswith("/k.png")
    assert read(url="http://other.example/x").product is None


@pytest.mark.parametrize("result", ["{'colour': 'red'}", "7", "{'price': 'cheap', 'rating': 'x'}"])
def test_a_product_with_other_fields_is_an_error(result: str, install: Install) -> None:
    install(shop=f"@forager.hookimpl\ndef find_product(page):\n    return {result}")
    reading = read("shop")
    assert reading.product is None
    assert [error.hook for error in reading.plugin_errors] == ["find_product"]


def test_a_plugin_that_is_left_out_or_disabled_is_not_called(install: Install) -> None:
    plugins = install(shop=RECORDS.format("[{'a': 1}]"), other=RECORDS.format("[{'b': 2}]"))
    assert [record.extractor for record in read().records] == ["other", "shop"]
    plugins.leave_out(["shop"])
    assert [record.extractor for record in read().records] == ["other"]
    plugins.leave_out([ALL])
    assert read().records == ()
    assert "amazon" in parsers()
    install(disabled=("shop",))
    assert [record.extractor for record in read().records] == ["other"]
    install(is_enabled=False)
    assert read().records == ()
    assert "amazon" in parsers()


def test_only_files_that_name_the_hook_are_imported(install: Install, tmp_path: Path) -> None:
    install(shop="raise RuntimeError('imported')", _private="raise RuntimeError", other=RECORDS.format("[]"))
    assert not read().plugin_errors
    assert registry.current().may_call("extract_records")
    assert not registry.current().may_call("rewrite_url")


def test_errors_are_summed_until_they_are_taken(install: Install) -> None:
    plugins = install(shop=RECORDS.format("1 / 0"))
    (implementation,) = plugins.implementations("extract_records")
    for _ in range(3):
        plugins.call(implementation, {"page": None}, list)
    (error,) = plugins.take_errors()
    assert (error.plugin, error.times, error.error) == ("shop", 3, "ZeroDivisionError: division by zero")
    assert "shop.py" in error.traceback
    assert plugins.take_errors() == ()


def test_a_package_is_found_by_its_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    meta = tmp_path / "forager_shop-1.2.dist-info"
    meta.mkdir()
    (meta / "METADATA").write_text("Metadata-Version: 2.1\nName: forager-shop\nVersion: 1.2\n")
    (meta / "entry_points.txt").write_text(f"[{GROUP}]\nshop = forager_shop\n")
    (tmp_path / "forager_shop.py").write_text("import forager\n" + RECORDS.format("[]"))
    monkeypatch.syspath_prepend(str(tmp_path))
    plugins = PluginRegistry(PluginConfig(str(tmp_path / "none")))
    source = next(each for each in plugins.sources if each.name == "shop")
    info = plugins.describe(source)
    assert (info.source, info.version, info.hooks, info.state) == (
        "forager-shop",
        "1.2",
        ("extract_records",),
        "loaded",
    )
    sys.modules.pop("forager_shop", None)


def test_those_inside_forager_are_listed_too() -> None:
    plugins = PluginRegistry()
    (source,) = [each for each in plugins.sources if each.name == "amazon"]
    info = plugins.describe(source)
    assert (info.source, info.version, info.hooks, info.state) == (BUILT_IN, "2", ("find_product",), "loaded")


def test_a_plugin_that_is_gone_keeps_its_errors() -> None:
    row = ErrorRow("old", "crash", 2, "it ended", "", None, clock.now(), clock.now())
    (found,) = combine([], [row])
    assert (found.name, found.state, found.errors) == ("old", "gone", 2)


def test_the_reference_is_current() -> None:
    page = Path(__file__).parents[3] / "docs/reference/hooks.md"
    assert page.read_text("utf-8") == write_reference(), "python -m forager.plugins.reference > docs/reference/hooks.md"


def test_the_guide_shows_the_example_as_it_is() -> None:
    root = Path(__file__).parents[3]
    example = (root / "examples/plugins/copper_oak.py").read_text("utf-8").rstrip()
    assert f"```python\n{example}\n```" in (root / "docs/how-to/plugins.md").read_text("utf-8")
