"""Writes a new plug-in with a page and what it finds there, as a beginning. No database, no network."""

import re
from pathlib import Path
from string import Template

from forager.errors import UsageError
from forager.plugins.contracts import FIXTURES
from forager.plugins.discovery import NAME

TOML_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
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
FILE = Template("""# Finds the items of a list. Try it: forager test $path
name = "$name"
version = 1

[match]
url = "*/items*"

[record]
kind = "item"
each = "li.item"

[fields.id]
css = ":scope::attr(data-id)"
key = true

[fields.name]
css = ".name"
required = true

[fields.price]
css = ".price"
type = "money"
""")
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


EXPECTED_OF_FILE = """{
  "url": "https://shop.example/items",
  "records": [
    {
      "kind": "item",
      "key": "1",
      "fields": {
        "id": "1",
        "name": "Kettle",
        "price": {
          "amount": "12.50",
          "currency": "EUR"
        }
      }
    },
    {
      "kind": "item",
      "key": "2",
      "fields": {
        "id": "2",
        "name": "Teapot",
        "price": {
          "amount": "29.00",
          "currency": "EUR"
        }
      }
    }
  ]
}
"""


def write_extractor(folder: Path, name: str, *, as_toml: bool = False) -> list[Path]:
    """Writes the plug-in, or with `as_toml` the extractor file, its page and its expected result; returns the files.
    Overwrites none."""
    if not NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no name of a plug-in: it has letters, digits, - and _, and begins with no sign.")
    if as_toml and not TOML_NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no name of an extractor file: it has lower-case letters, digits, - and _.")
    plugin, fixtures = folder / (f"{name}.toml" if as_toml else f"{name}.py"), folder / FIXTURES / name
    files = {
        plugin: (FILE if as_toml else PLUGIN).substitute(path=plugin, name=name),
        fixtures / "items.html": PAGE,
        fixtures / "items.json": EXPECTED_OF_FILE if as_toml else EXPECTED,
    }
    for path in files:
        if path.exists():
            raise UsageError(f"{path} exists already; it is not overwritten.")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return list(files)
