"""`forager read`: everything that is read from one page in a file, in JSON or for a person. No database."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager.cli import format as words
from forager.cli import output
from forager.cli.help import Command
from forager.cli.inputs import bytes_of, normal_url
from forager.cli.start import begin
from forager.pages.commands.page import day, rating
from forager.runs.models import Scope

if TYPE_CHECKING:
    from rich.console import Console

    from forager.config.settings import Settings
    from forager.parsing.models import Reading
    from forager.reading import PageContent, PageProduct

LABEL = 14
LONGEST_VALUE = 2000
SHOWN = 5
"""Links, images and listed products shown to a person."""
FACTS = (
    *("price", "regular_price", "currency", "availability", "brand", "category", "sku", "gtin", "mpn", "rating"),
    *("review_count", "unit_price", "unit", "seller", "condition", "shipping"),
)


def register(app: typer.Typer) -> None:
    app.command("read", cls=Command, rich_help_panel="Try one thing (no database)")(read)


def read(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A saved page; - reads standard input.")],
    url: Annotated[str, typer.Option(metavar="URL", help="The address the file came from.")],
    content_type: Annotated[str, typer.Option(metavar="TYPE", help="Its Content-Type header.")] = "text/html",
    scope: Annotated[
        Scope | None, typer.Option(help="Show only the links that a crawl of this scope would follow.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Everything as one JSON document.")] = False,
) -> None:
    """Show everything that Forager reads from a file."""
    from forager.reading import content_of, read_body

    target = normal_url(url)
    settings = begin()
    body = sys.stdin.buffer.read() if str(file) == "-" else bytes_of(file)
    reading = read_body(body, target, content_type, settings.politeness.robots_agent)
    page = content_of(reading, target)
    selected = _select(reading, target, scope, settings) if scope else {}
    if as_json:
        output.write_json(page.to_dict() | selected)
        return
    _write(output.console(), page, selected or {"links": [link._asdict() for link in page.links]})


def _select(reading: "Reading", url: str, scope: Scope, settings: "Settings") -> dict[str, Any]:
    """The links that a crawl would follow, and how many it would leave out for which reason."""
    from forager.frontier.models import Target
    from forager.links.scope import CrawlScope
    from forager.links.select import Selector
    from forager.runs.models import RunSpec

    selector = Selector(CrawlScope.of(RunSpec((url,), scope)), max_links_per_page=settings.crawl.max_links_per_page)
    selection = selector.select(reading, Target(0, 0, 0, 0, url, 0, 0, 0))
    return {
        "links": [{"url": link.url, "anchor": link.anchor, "rel": link.rel} for link in selection.links],
        "dropped": dict(selection.dropped),
    }


def _write(screen: "Console", page: "PageContent", selected: dict[str, Any]) -> None:
    for label, value in _build_details(page):
        if value:
            _line(screen, label, words.clean(value))
    _line(screen, "text", f"{words.things(len(page.text.split()), 'word')}: {words.clean(page.text)}")
    for product in page.products[:SHOWN]:
        _write_product(screen, product)
    if len(page.products) > SHOWN:
        _line(screen, "", f"and {words.things(len(page.products) - SHOWN, 'more product', 'more products')}")
    for item in page.structured_data:
        names = ", ".join(map(str, item.get("properties", {})))
        _line(screen, "item", words.clean(f"{'/'.join(item.get('types', []))} ({item.get('syntax')}): {names}"))
    _write_list(screen, "image", page.images, lambda image: f"{image.url}  {image.type}  {image.alt}")
    _write_list(screen, "link", selected["links"], lambda link: f"{link['url']}  {link['rel']}  {link['anchor']}")
    if dropped := selected.get("dropped"):
        _line(screen, "left out", ", ".join(f"{count} {reason}" for reason, count in sorted(dropped.items())))


def _build_details(page: "PageContent") -> list[tuple[str, str | None]]:
    return [
        ("title", page.title),
        ("headline", page.headline),
        ("site", page.site_name),
        ("description", page.description),
        ("canonical", page.canonical if page.canonical != page.url else None),
        ("language", page.language),
        ("author", page.author),
        ("published", day(page.published_at, page.published_on)),
        ("modified", day(page.modified_at, page.modified_on)),
        ("section", page.section),
        ("tags", ", ".join(page.tags)),
        ("rating", rating(page.rating, page.rating_count)),
        ("flags", ", ".join([*page.flags, *_directives(page)])),
    ]


def _directives(page: "PageContent") -> list[str]:
    return [name for name, is_set in (("noindex", page.is_noindex), ("nofollow", page.is_nofollow)) if is_set]


def _write_product(screen: "Console", product: "PageProduct") -> None:
    screen.print()
    _line(screen, "product", words.clean(product.name) or "(no name)")
    for name in FACTS:
        if (value := getattr(product, name)) is not None:
            _line(screen, f"  {name.replace('_', ' ')}", words.clean(str(value)))
    for name, value in product.attributes.items():
        _line(screen, "  attribute", words.clean(f"{name}: {value}"))
    for variant in product.variants[:SHOWN]:
        _line(screen, "  variant", words.clean(", ".join(str(value) for value in variant if value is not None)))
    if product.problems:
        _line(screen, "  problems", ", ".join(product.problems))


def _write_list(screen: "Console", name: str, found: Any, told: Any) -> None:
    screen.print()
    _line(screen, f"{name}s", words.count(len(found)))
    for each in found[:SHOWN]:
        _line(screen, "", words.clean(told(each)).strip())


def _line(screen: "Console", label: str, value: str) -> None:
    """On a terminal one line each, cut where it ends."""
    from rich.text import Text

    value = value if len(value) <= LONGEST_VALUE else value[: LONGEST_VALUE - 1] + "…"
    line = Text(f"{label:<{LABEL}} ", style="bold" if label and not label.startswith(" ") else "")
    line.append(value, style="default")
    screen.print(line, overflow="ellipsis", no_wrap=True)
