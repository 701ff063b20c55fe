"""Writes a new plug-in with a page and what it finds there, as a beginning. No database, no network."""

from pathlib import Path
from string import Template

from forager.errors import UsageError
from forager.plugins.contracts import FIXTURES
from forager.plugins.discovery import NAME

PLUGIN = Template('''"""Finds records in pages of one kind. Try it: forager test $path"""

import forager


@forager.hookimpl
def extract_records(page):
    """Returns the items of a list; fields are text, numbers, dates, lists and dicts."""
    if "/items" not in page.url:
        return
    for item in page.document.select("li.item"):
        name = item.select_one(".name")
        price = item.select_one(".price")
        if name is None or price is None:
            continue
        yield {
            "kind": "item",
            "key": item.attr("data-id"),
            "fields": {"name": " ".join(name.strings), "price": " ".join(price.strings)},
        }
''')
PAGE = """<!doctype html>
<title>Items</title>
<ul>
  <li class="item" data-id="1"><span class="name">Kettle</span> <span class="price">12.50 EUR</span></li>
  <li class="item" data-id="2"><span class="name">Teapot</span> <span class="price">29.00 EUR</span></li>
</ul>
"""
EXPECTED = """{
  "url": "https://shop.example/items",
  "records": [
    {
      "kind": "item",
      "key": "1",
      "fields": {
        "name": "Kettle",
        "price": "12.50 EUR"
      }
    },
    {
      "kind": "item",
      "key": "2",
      "fields": {
        "name": "Teapot",
        "price": "29.00 EUR"
      }
    }
  ]
}
"""


def write_extractor(folder: Path, name: str) -> list[Path]:
    """Writes the plug-in, its page and its expected result; returns the files. Overwrites none."""
    if not NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no name of a plug-in: it has letters, digits, - and _, and begins with no sign.")
    plugin, fixtures = folder / f"{name}.py", folder / FIXTURES / name
    files = {
        plugin: PLUGIN.substitute(path=plugin),
        fixtures / "items.html": PAGE,
        fixtures / "items.json": EXPECTED,
    }
    for path in files:
        if path.exists():
            raise UsageError(f"{path} exists already; it is not overwritten.")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return list(files)
