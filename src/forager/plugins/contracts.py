"""Contracts of plug-ins and extractor files: pages in files, and what is expected of them. No database, no network.

    shop.py
    fixtures/shop/kettle.html     a page
    fixtures/shop/kettle.json     {"url": …, "records": […], "product": {…}}

A contract passes when the plug-in finds in the page exactly what the file says.
"""

import difflib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from forager.errors import BadUrlError, NotFoundError, UsageError
from forager.fetch.models import Fetched
from forager.parsing import page as parser
from forager.parsing.extractors.load import parse_extractor
from forager.parsing.models import Reading
from forager.parsing.sites import AUTO
from forager.plugins import registry
from forager.plugins.discovery import NAME, Source
from forager.plugins.registry import PluginRegistry
from forager.products.models import FACTS, Product, pack
from forager.urls.normalize import normalize

FIXTURES = "fixtures"
TOML = ".toml"
PAGES = (".html", ".htm", ".xhtml")
ALL_WORDS = 10_000_000
Expected = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Contract:
    """One page and what a plug-in finds in it."""

    plugin: Path
    page: Path

    @property
    def name(self) -> str:
        return f"{self.plugin.stem}/{self.page.stem}"

    @property
    def expected(self) -> Path:
        return self.page.with_suffix(".json")


@dataclass(frozen=True, slots=True)
class ContractResult:
    name: str
    difference: str = ""
    """Lines of a diff from what is expected to what was found."""
    error: str = ""
    """Why the page could not be read, or what the plug-in raised."""
    is_updated: bool = False

    @property
    def is_kept(self) -> bool:
        return not self.difference and not self.error


def find_contracts(*paths: Path) -> list[Contract]:
    """Returns the contracts of plug-ins and extractor files, or of all in a folder. Raises NotFoundError if there are
    none."""
    for path in paths:
        if not path.exists():
            raise NotFoundError(f"There is no {path}.")
    found = [contract for path in paths for plugin in _files_in(path) for contract in _contracts_of(plugin)]
    if not found:
        where = " and ".join(map(str, paths))
        raise NotFoundError(
            f"There are no contracts in {where}: pages are in {FIXTURES}/NAME beside NAME.py or NAME.toml. "
            "`forager init extractor NAME` writes an example."
        )
    return found


def _files_in(path: Path) -> list[Path]:
    return [path] if path.is_file() else sorted([*path.glob("*.py"), *path.glob("*.toml")])


def _contracts_of(plugin: Path) -> Iterator[Contract]:
    folder = plugin.parent / FIXTURES / plugin.stem
    for page in sorted(folder.glob("*")):
        if page.suffix.lower() in PAGES:
            yield Contract(plugin, page)


def run_contract(contract: Contract, *, update: bool = False) -> ContractResult:
    """Reads the page with the plug-in and compares; with `update` writes what was found instead."""
    try:
        expected = _read_expected(contract)
        reading = _read_page(contract, expected["url"])
    except (UsageError, BadUrlError) as error:
        return ContractResult(contract.name, error=str(error))
    if reading.plugin_errors:
        failed = reading.plugin_errors[0]
        return ContractResult(contract.name, error=f"{failed.hook}: {failed.error}\n{failed.traceback}".rstrip())
    found = _found_in(reading, contract.plugin.stem, expected)
    if found == expected:
        return ContractResult(contract.name)
    if update:
        contract.expected.write_text(_write(found), "utf-8")
        return ContractResult(contract.name, is_updated=True)
    return ContractResult(contract.name, difference=_diff(expected, found))


def _read_expected(contract: Contract) -> Expected:
    try:
        expected = json.loads(contract.expected.read_text("utf-8"))
    except OSError:
        raise UsageError(f'{contract.expected} is missing; write {{"url": "https://…"}} and run --update.') from None
    except ValueError as error:
        raise UsageError(f"{contract.expected} is not JSON: {error}.") from None
    if not isinstance(expected, dict) or not isinstance(expected.get("url"), str):
        raise UsageError(f"{contract.expected} needs a `url`: the address of the page.")
    return expected


def _read_page(contract: Contract, url: str) -> Reading:
    try:
        body = contract.page.read_bytes()
    except OSError as error:
        raise UsageError(f"{contract.page} cannot be read: {error.strerror}.") from None
    fetched = Fetched(normalize(url), 200, {"content-type": "text/html"}, body, len(body), 0)
    return _run_file(contract, fetched) if contract.plugin.suffix == TOML else _run_plugin(contract, fetched)


def _run_file(contract: Contract, fetched: Fetched) -> Reading:
    """Runs an extractor file; its name in the records is the name it gives itself."""
    text = contract.plugin.read_text("utf-8")
    name = parse_extractor(text, str(contract.plugin)).name
    with registry.using(PluginRegistry()):
        reading = parser.read(fetched, keyword_words=ALL_WORDS, extractor_texts=(text,))
    if reading.extractor_problems:
        raise UsageError(f"{contract.plugin}: {reading.extractor_problems[0]}")
    own = tuple(replace(each, extractor=contract.plugin.stem) for each in reading.records if each.extractor == name)
    return replace(reading, records=own)


def _run_plugin(contract: Contract, fetched: Fetched) -> Reading:
    source = Source(contract.plugin.stem, str(contract.plugin), path=contract.plugin)
    if not NAME.fullmatch(source.name):
        raise UsageError(f"{source.name!r} is no name of a plug-in: letters, digits, - and _.")
    plugins = PluginRegistry.of([source])
    with registry.using(plugins):
        loaded = plugins.load(source)
        if loaded.problem is not None:
            raise UsageError(f"{contract.plugin}: {loaded.problem}")
        sells = bool(plugins.implementations("find_product"))
        name = source.name
        return parser.read(fetched, keyword_words=ALL_WORDS, parser_name=name if sells else AUTO, extractors=(name,))


def _found_in(reading: Reading, plugin: str, expected: Expected) -> Expected:
    """Returns what was found in the form of the file."""
    found: Expected = {"url": expected["url"]}
    records = [
        {"kind": each.kind, "key": each.key, "fields": dict(each.fields)}
        for each in reading.records
        if each.extractor == plugin
    ]
    if records or "records" in expected:
        found["records"] = records
    own = reading.product if reading.product and reading.product.parser_name == plugin else None
    if own is not None or "product" in expected:
        found["product"] = None if own is None else _facts(own)
    return found


def _facts(product: Product) -> Mapping[str, Any]:
    packed = json.loads(json.dumps(pack(product)))
    return {name: packed[name] for name in FACTS if packed[name] not in (None, [], {})}


def _write(value: Expected) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def _diff(expected: Expected, found: Expected) -> str:
    lines = difflib.unified_diff(
        _write(expected).splitlines(), _write(found).splitlines(), "expected", "found", lineterm=""
    )
    return "\n".join(lines)
