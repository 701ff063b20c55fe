"""`forager products`: lists products, the confidence in their fields, and their price history."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any

import typer

from forager import clock
from forager.cli import command_hints as hints
from forager.cli import format as words
from forager.cli import option_values as given
from forager.cli import output, table
from forager.cli.flags import AsJson, DomainName, Home, Limit
from forager.cli.help import Command, Group
from forager.cli.option_values import Given
from forager.cli.start import begin, run_query
from forager.cli.table import Cell, Note, extra, number, say_more, text_column, wrap_column, wrap_text
from forager.domains.commands.card import LABEL_WIDTH, MARGIN
from forager.errors import UsageError

Row = dict[str, Any]
SUMMARY = "List products; show one, its prices, what changed."
STOCK_COLOURS = {"in_stock": "green", "limited": "yellow", "out_of_stock": "red", "discontinued": "dim"}
BARS = "▁▂▃▄▅▆▇█"
MOST_BARS = 40
MOST_EMPTY = 5
URL_ROOM = 40
"""The width from which the URL of a product is worth a column."""
COLUMNS = (
    number("id"),
    text_column("product"),
    wrap_column("shop"),
    number("price"),
    "",
    "change",
    extra("availability"),
    extra(number("sure")),
    extra("seen"),
    extra(wrap_column("url"), URL_ROOM),
)
"""Shops without a product that are listed."""
FIELDS = (
    *(
        "product_name",
        "price",
        "currency",
        "availability",
        "rating",
        "review_count",
        "brand",
        "category",
        "sku",
        "gtin",
    ),
    *("mpn", "regular_price", "unit_price", "unit", "seller", "condition", "shipping", "attributes"),
    *("image_urls", "variants", "description"),
)
AMOUNTS = frozenset({"price", "regular_price", "unit_price", "shipping"})
LONGEST_VALUE = 300


class Change(StrEnum):
    UP = "up"
    DOWN = "down"
    ANY = "any"


class Of(StrEnum):
    PRICE = "price"
    AVAILABILITY = "availability"


class Stock(StrEnum):
    IN_STOCK = "in_stock"
    OUT_OF_STOCK = "out_of_stock"
    PREORDER = "preorder"
    BACKORDER = "backorder"
    LIMITED = "limited"
    DISCONTINUED = "discontinued"
    IN_STORE_ONLY = "in_store_only"


Which = Annotated[str, typer.Argument(metavar="URL|ID", help="URL of its page, or ID of the product.")]
Since = Annotated[
    Given | None, typer.Option("--since", parser=given.span_or_none, metavar="TIME", help="Only of the last 24h, 7d …")
]


def register(app: typer.Typer) -> None:
    family = typer.Typer(cls=Group, rich_markup_mode=None, subcommand_metavar="[VERB]", help=SUMMARY)
    family.callback(invoke_without_command=True)(products)
    for name, function in (("show", show), ("prices", prices), ("changes", changes), ("parsers", parsers)):
        family.command(name, cls=Command)(function)
    app.add_typer(family, name="products", rich_help_panel="Look")


def products(
    context: typer.Context,
    *,
    domain: DomainName = None,
    availability: Annotated[Stock | None, typer.Option(help="Only in this state.")] = None,
    brand: Annotated[str | None, typer.Option(metavar="NAME", help="Only of this brand.")] = None,
    change: Annotated[
        Change | None, typer.Option(help="Only products whose last price change was in this direction.")
    ] = None,
    problems: Annotated[
        bool, typer.Option("--problems", help="Only products with doubtful or missing fields.")
    ] = False,
    limit: Limit = 50,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """List products; show one, its prices, what changed."""
    if context.invoked_subcommand is not None:
        if domain or availability or brand or change or problems or as_json or home:
            verb = context.invoked_subcommand
            raise UsageError(f"Flags of `{verb}` stand behind it: forager products {verb} --json.")
        return None
    from forager.products import queries as control

    rows = run_query(
        begin(home=home),
        "products",
        lambda connection: control.list_seen_products(
            connection,
            domain=domain,
            availability=availability,
            brand=brand,
            change=change,
            has_problems=True if problems else None,
            limit=limit,
        ),
    )
    if as_json:
        return output.write_json_list(rows)
    now = clock.now()
    table.write(COLUMNS, list(_listed(rows, now)))
    return say_more(
        rows, limit, "products", "No product matches. Crawl a shop, or look at `forager products` without filters."
    )


def _listed(rows: Sequence[Row], now: datetime) -> Iterator[tuple[str | Cell, ...] | Note]:
    for row in rows:
        old = old_price(row)
        yield (
            str(row["id"]),
            words.clean(row["product_name"]),
            words.clean(row["domain"]),
            Cell(format_price(row["price"], row["currency"]), "dim" if old else ""),
            row["currency"] or "",
            moved(row["old_price"], row["price"]),
            stock("gone" if row["is_gone"] else row["availability"]),
            f"{row['confidence']:.0%}",
            words.format_relative(row["price_seen_at"] if old else row["last_seen_at"], now),
            words.clean(row["url"]),
        )
        if old:
            yield Note(f"  └─ {old}", "yellow")


def show(which: Which, as_json: AsJson = False, home: Home = None) -> None:
    """Show one product: each field, its confidence, where it was found."""
    from forager.products import queries as control

    row = run_query(begin(home=home), "products", lambda connection: control.find_product(connection, which))
    if as_json:
        return output.write_json(row)
    return _write_card(row, clock.now())


def prices(which: Which, as_json: AsJson = False, home: Home = None) -> None:
    """Show its price history."""
    from forager.products import queries as control

    product, rows = run_query(begin(home=home), "products", lambda connection: control.list_prices(connection, which))
    if as_json:
        return output.write_json_list(rows)
    screen = output.console()
    screen.print(words.clean(product["product_name"]), style="bold")
    if line := sparkline([row["price"] for row in rows]):
        screen.print(f"  {line}")
    table.write(
        ("when", number("price"), "", "change", "availability", number("task"), "note"),
        [
            (
                f"{row['seen_at']:%Y-%m-%d %H:%M}",
                format_price(row["price"], row["currency"]),
                row["currency"] or "",
                moved(row["old_price"], row["price"]),
                stock(row["availability"]),
                str(row["task_id"] or "–"),
                "first seen"
                if row["is_first"]
                else "read again"
                if row["is_correction"]
                else "read later"
                if row["is_backfill"]
                else "",
            )
            for row in rows
        ],
    )
    if old := old_price(product):
        screen.print(f"{old[0].upper()}{old[1:]}.", style="yellow")
    return None


def changes(
    *,
    domain: DomainName = None,
    of: Annotated[Of | None, typer.Option(help="Only changes of price, or of availability.")] = None,
    since: Since = None,
    limit: Limit = 50,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """List changes of prices and availability, newest first."""
    from forager.products import queries as control

    begins_at = clock.now() - timedelta(seconds=since.value) if since is not None else None
    rows = run_query(
        begin(home=home),
        "products",
        lambda connection: control.list_changes(connection, domain=domain, of=of, since=begins_at, limit=limit),
    )
    if as_json:
        return output.write_json_list(rows)
    now = clock.now()
    table.write(
        (
            "when",
            number("id"),
            text_column("product"),
            wrap_column("shop"),
            number("was"),
            number("is"),
            "",
            "change",
            "availability",
            extra(wrap_column("url"), URL_ROOM),
        ),
        [
            (
                words.format_relative(row["seen_at"], now),
                str(row["product_id"]),
                words.clean(row["product_name"]),
                words.clean(row["domain"]),
                format_price(row["old_price"], row["old_currency"]),
                format_price(row["price"], row["currency"]),
                row["currency"] or "",
                moved(row["old_price"], row["price"]),
                _stock_change(row),
                words.clean(row["url"]),
            )
            for row in rows
        ],
    )
    return say_more(
        rows, limit, "changes", "Nothing changed yet. Products are compared when their pages are visited again."
    )


def parsers(*, domain: DomainName = None, limit: Limit = 50, as_json: AsJson = False, home: Home = None) -> None:
    """List the success rates of parsers, the largest drop first."""
    from forager.products import queries as control

    async def both(connection: Any) -> tuple[list[Row], list[Row]]:
        rows = await control.list_parsers(connection, domain=domain, limit=limit)
        return rows, await control.list_without_products(connection, domain=domain, limit=MOST_EMPTY)

    rows, empty = run_query(begin(home=home), "products", both)
    if as_json:
        return output.write_json_list(rows)
    table.write(
        (
            wrap_column("domain"),
            "parser",
            "day",
            number("tried"),
            number("found"),
            number("valid"),
            number("rate"),
            number("before"),
        ),
        list(_list_rates(rows)),
    )
    say_more(rows, limit, "parsers", "No product was read yet.")
    for row in empty:
        output.say(
            f"{row['domain']}: {words.things(row['pages'], 'page')} read, no product found; "
            f"`{hints.fetch(row['url'])}` shows what a page says."
        )
    return None


def _list_rates(rows: Sequence[Row]) -> Iterator[tuple[str | Cell, ...] | Note]:
    for row in rows:
        yield (
            row["domain"],
            f"{row['parser_name']} {row['parser_version']}",
            f"{row['day']:%Y-%m-%d}",
            words.count(row["attempts"]),
            words.count(row["found"]),
            words.count(row["valid"]),
            Cell(_percent(row["rate"]), "red" if row["has_dropped"] else ""),
            _percent(row["rate_before"]),
        )
        if row["has_dropped"]:
            yield Note("  └─ reads much less than before: the site may have changed", "red")


def _percent(rate: float | None) -> str:
    return "–" if rate is None else f"{rate:.0%}"


# How a product is said -----------------------------------------------------------------------------------------------


def format_price(price: Decimal | None, currency: str | None) -> str:
    """`1,299.00`; currencies without cents without them, and more decimals only where there are some."""
    if price is None:
        return "–"
    from forager.parsing.products.currency import decimals_of

    exact = price.normalize()
    places = max(decimals_of(currency), -int(exact.as_tuple().exponent))
    return f"{price:,.{places}f}"


def old_price(row: Row) -> str:
    """Says that the price shown is from an earlier visit, and since when; empty where the last visit read it."""
    if row["price"] is None or row["is_price_current"] or row["price_seen_at"] is None:
        return ""
    gone = "the page is gone" if row.get("is_gone") or row.get("page_status") == "gone" else "not on the page now"
    return f"{gone}: this price was last seen {row['price_seen_at']:%Y-%m-%d %H:%M}"


def moved(old: Decimal | None, new: Decimal | None) -> Cell:
    if old is None or new is None or old == new:
        return Cell("")
    part = abs(new - old) / old if old else Decimal(0)
    share = f"{part:.0%}" if part >= Decimal("0.095") else f"{part:.1%}" if part else ""
    return Cell(f"▲ {share}", "red") if new > old else Cell(f"▼ {share}", "green")


def stock(availability: str | None) -> Cell:
    return Cell(words.plain_reason(availability) or "–", STOCK_COLOURS.get(availability or "", ""))


def _stock_change(row: Row) -> Cell:
    if row["old_availability"] == row["availability"]:
        return stock(row["availability"])
    old, new = (words.plain_reason(row[name]) or "?" for name in ("old_availability", "availability"))
    return Cell(f"{old} → {new}", STOCK_COLOURS.get(row["availability"] or "", ""))


def sparkline(values: Sequence[Decimal | None]) -> str:
    """One bar per row of the history, at most forty; nothing for less than two prices."""
    known = [float(value) for value in values if value is not None][-MOST_BARS:]
    if len(known) < 2:
        return ""
    low, span = min(known), max(known) - min(known)
    return "".join(BARS[round((value - low) / span * (len(BARS) - 1))] if span else BARS[3] for value in known)


def _write_card(row: Row, now: datetime) -> None:
    from rich.text import Text

    screen = output.console()
    screen.print(Text(words.clean(row["product_name"]), style="bold"))
    for label, value in _card_lines(row, now):
        shown = wrap_text(" " * MARGIN + words.clean(value), screen.width, MARGIN)
        screen.print(Text(f"  {label:<{LABEL_WIDTH}}", style="dim").append(shown[MARGIN:], style="not dim"))
    table.write(("field", number("sure"), text_column("value"), text_column("where")), list(_evidence(row)))


def _card_lines(row: Row, now: datetime) -> list[tuple[str, str]]:
    parser = f"{row['parser_name']} {row['parser_version']}, {row['confidence']:.0%} sure"
    seen = f"{words.format_relative(row['last_seen_at'], now)}, first {words.format_relative(row['created_at'], now)}"
    changed = (
        f", changed {words.format_relative(row['updated_at'], now)}" if row["updated_at"] > row["created_at"] else ""
    )
    lines = [
        ("id", str(row["id"])),
        ("page", row["url"] + ("" if row["page_status"] == "fetched" else f" ({row['page_status']})")),
        ("seen", seen + changed + (", in lists only" if row["is_listed"] else "")),
        ("price", old_price(row)),
        ("missing", f"since {row['missing_since']:%Y-%m-%d %H:%M}" if row["missing_since"] else ""),
        ("read by", parser),
        ("problems", ", ".join(words.plain_reason(problem) for problem in row["problems"])),
    ]
    return [(label, value) for label, value in lines if value]


def _evidence(row: Row) -> Iterator[tuple[str | Cell, ...]]:
    for field in FIELDS:
        found = row["evidence"].get("name" if field == "product_name" else field, [])
        label = words.plain_reason(field.removeprefix("product_"))
        value = _value(row, field)
        if found:
            yield label, f"{found[0][2]:.0%}", words.clean(value), words.clean(found[0][1])
        elif value:
            yield label, Cell("kept", "dim"), words.clean(value), Cell("an earlier visit", "dim")
        chosen = found[0][0].casefold() if found else None
        for other in [each for each in found[1:] if each[0].casefold() != chosen][:2]:
            yield (
                "",
                Cell(f"{other[2]:.0%}", "dim"),
                Cell(f"not {words.clean(other[0])}", "dim"),
                Cell(words.clean(other[1]), "dim"),
            )


def _value(row: Row, field: str) -> str:
    value = row[field]
    if field in AMOUNTS:
        return "" if value is None else format_price(value, row["currency"])
    if field == "attributes":
        return ", ".join(f"{name}: {said}" for name, said in value.items())[:LONGEST_VALUE]
    if field == "image_urls":
        return f"{len(value)}: {value[0]}" if value else ""
    if field == "variants":
        return ", ".join(each.get("name") or each.get("sku") or "?" for each in value)[:LONGEST_VALUE]
    return "" if value is None else str(value)[:LONGEST_VALUE]
