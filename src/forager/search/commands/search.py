"""`forager search WORDS`: full text search over crawled pages; with `--products`, over products."""

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager import clock
from forager.cli import durations, output
from forager.cli import format as words
from forager.cli.flags import AsJson, Home
from forager.cli.help import Command
from forager.cli.start import begin, repair
from forager.errors import UsageError

if TYPE_CHECKING:
    from rich.text import Text

    from forager.search.models import Hit, HitPage, Marked
    from forager.search.service import SearchResult

MARGIN = 3
MOST_SHOWN_FACETS = 5
NARROWING = "Narrow it down"
PRODUCTS = "Products"
NARROWER = "more words, --domain, --language or --since"


def register(app: typer.Typer) -> None:
    app.command("search", cls=Command, rich_help_panel="Look")(search)


def search(
    *,
    asked: Annotated[
        list[str],
        typer.Argument(
            metavar="WORDS",
            help='Words that must occur; "a phrase"; -excluded; this OR that; site:, language:, title:, url:, date:, '
            "since: and until:.",
        ),
    ],
    language: Annotated[
        str | None,
        typer.Option(
            "--language",
            "-l",
            help="Only pages in this language, such as de.",
            metavar="TAG",
            rich_help_panel=NARROWING,
        ),
    ] = None,
    domain: Annotated[
        str | None, typer.Option(help="Only this domain.", metavar="NAME", rich_help_panel=NARROWING)
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(help="New or changed since: 7d, or 2026-11-01.", metavar="WHEN", rich_help_panel=NARROWING),
    ] = None,
    is_products: Annotated[
        bool, typer.Option("--products", help="Products instead of pages.", rich_help_panel=PRODUCTS)
    ] = False,
    brand: Annotated[
        str | None, typer.Option(help="Only of this brand.", metavar="NAME", rich_help_panel=PRODUCTS)
    ] = None,
    category: Annotated[
        str | None, typer.Option(help="Only in this category.", metavar="NAME", rich_help_panel=PRODUCTS)
    ] = None,
    availability: Annotated[
        str | None,
        typer.Option(help="Only with this availability, such as in_stock.", metavar="WORD", rich_help_panel=PRODUCTS),
    ] = None,
    price: Annotated[
        str | None, typer.Option(help="A range such as 10-25, 10- or -25.", metavar="RANGE", rich_help_panel=PRODUCTS)
    ] = None,
    currency: Annotated[
        str | None,
        typer.Option(help="Only prices in this currency, such as EUR.", metavar="CODE", rich_help_panel=PRODUCTS),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=1000, help="Maximum number of results.", metavar="N")
    ] = 10,
    after: Annotated[
        str | None,
        typer.Option(help="Continue after this position, which the previous page of results prints.", metavar="PLACE"),
    ] = None,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Search pages, or products, by their text."""
    from forager.search import service as control
    from forager.search.backend import open_searching
    from forager.search.models import ProductQuery, Query
    from forager.storage.factory import open_readonly_store

    common: dict[str, Any] = {
        "words": " ".join(_quoted(word) for word in asked),
        "language": _language(language),
        "domain": domain,
        "since": _parse_time(since, clock.now()),
        "limit": limit,
        "after": after,
    }
    facts: dict[str, Any] = {"brand": brand, "category": category, "availability": availability, "currency": currency}
    low, high = _prices(price)
    is_products = is_products or any(facts.values()) or price is not None
    query = ProductQuery(**common, **facts, lowest_price=low, highest_price=high) if is_products else Query(**common)
    settings = begin(home=home)

    async def run_search(pool: Any) -> "SearchResult":
        async with open_searching(settings) as elsewhere:
            return await control.search(pool, query, bodies=open_readonly_store(settings), elsewhere=elsewhere)

    answer = repair(settings, "search", run_search)
    if as_json:
        return output.write_json(as_document(query.words, answer))
    _write(answer, clock.now())
    return _say(answer, query.words, "product" if is_products else "page")


def _quoted(word: str) -> str:
    """The shell took the quotes of "two words", or of title:"two words"; they meant something. What has an operator
    inside is a query of its own."""
    from forager.search.words import FIELDS

    lead, name, bare = re.fullmatch(r"(-*)([A-Za-z]*:)?(.*)", word, re.DOTALL).groups("")  # type: ignore[union-attr]
    if name[:-1].lower() not in FIELDS:
        name, bare = "", name + bare
    names = "|".join(FIELDS)
    if " " not in bare or '"' in bare or re.search(rf" OR | -\S|(?:^| )(?:{names}):", bare, re.IGNORECASE):
        return word
    return f'{lead}{name}"{bare}"'


def _language(text: str | None) -> str | None:
    if text is None:
        return None
    tag = text.strip().replace("_", "-")
    if not tag.replace("-", "").isalnum() or not tag.isascii() or len(tag) > 35:
        raise UsageError(f"{text!r} is no language; write a tag such as en or pt-BR.")
    return tag


def _parse_time(text: str | None, now: datetime) -> datetime | None:
    """`7d` before now, or a date (UTC)."""
    from datetime import UTC, timedelta

    if text is None:
        return None
    try:
        return (
            datetime.fromisoformat(text).replace(tzinfo=UTC)
            if "-" in text
            else now - timedelta(seconds=durations.parse_duration(text))
        )
    except (ValueError, OverflowError):
        raise UsageError(f"{text!r} is no time; write a span such as 7d or a date such as 2026-11-01.") from None


def _prices(text: str | None) -> tuple[float | None, float | None]:
    low, dash, high = (text or "-").partition("-")
    try:
        bounds = [float(bound) if bound.strip() else None for bound in (low, high)]
    except ValueError:
        bounds = [float("nan")]
    if not dash or any(bound is not None and not 0 <= bound < 1e15 for bound in bounds):
        raise UsageError(f"{text!r} is no range of prices; write it like 10-25, 10- or -25.")
    return bounds[0], bounds[1]


def as_document(asked: str, answer: "SearchResult") -> dict[str, Any]:
    page = answer.page
    return {
        "query": answer.suggestion if answer.is_corrected else asked,
        "total": page.total,
        "is_estimate": page.is_estimate,
        "looked_at": page.looked_at,
        "hits": [asdict(hit) for hit in page.hits],
        "facets": page.facets,
        "next_after": page.next_after,
        "suggestion": answer.suggestion,
        "is_corrected": answer.is_corrected,
        "not_indexed_yet": answer.waiting,
        "cut_pages": answer.cut,
        "noindex_pages": answer.noindex,
        "note": answer.note,
    }


def _write(answer: "SearchResult", now: datetime) -> None:
    screen = output.console()
    for line in render_hits(answer.page, now, screen.width if sys.stdout.isatty() else None):
        screen.print(line, soft_wrap=True)


def render_hits(page: "HitPage", now: datetime, width: int | None) -> Iterator["Text"]:
    from rich.text import Text

    for hit in page.hits:
        yield _truncate(_styled(hit.title, "bold") if hit.title else Text("(no title)", style="dim"), width)
        yield _truncate(Text(words.clean(hit.url), style="cyan"), width, indent=MARGIN, is_url=True)
        if hit.snippet:
            yield from _wrapped(_styled(hit.snippet, ""), width)
        yield _truncate(Text(_about(hit, now), style="dim"), width, indent=MARGIN)
        yield Text()


def _about(hit: "Hit", now: datetime) -> str:
    parts = [hit.language or "no language", words.clean(hit.domain), words.format_relative(hit.fetched_at, now)]
    if hit.is_cut:
        parts.append("longer than what is searched")
    return " · ".join([*_build_details(hit.details), *parts])


def _build_details(details: Mapping[str, Any]) -> Iterator[str]:
    if details.get("price") is not None:
        price = f"{details['price']:,.2f} {details['currency'] or ''}".rstrip()
        seen_at = details.get("price_seen_at")
        yield price if details.get("is_price_current", True) or seen_at is None else f"{price} on {seen_at:%Y-%m-%d}"
    for fact in ("availability", "brand", "category"):
        if details.get(fact):
            yield words.clean(words.plain_reason(details[fact]))


def _styled(marked: "Marked", style: str) -> "Text":
    """Crawled text, cleaned piece by piece, so that the places still fit."""
    from rich.text import Text

    text, place = Text(style=style), 0
    for start, end in marked.matches:
        text.append(_clean_segment(marked.text[place:start])).append(
            _clean_segment(marked.text[start:end]), style="bold yellow"
        )
        place = end
    return text.append(_clean_segment(marked.text[place:]))


def _clean_segment(text: str) -> str:
    lead, trail = " " * text[:1].isspace(), " " * (text[-1:].isspace() and len(text) > 1)
    return lead + words.clean(text).strip() + trail


def _truncate(text: "Text", width: int | None, indent: int = 0, *, is_url: bool = False) -> "Text":
    from rich.text import Text

    if width is not None and text.cell_len > width - indent:
        if is_url:
            text = Text(words.truncate_middle(text.plain, width - indent), style=text.style)
        text.truncate(width - indent, overflow="ellipsis")
    return Text(" " * indent).append_text(text) if indent else text


def _wrapped(text: "Text", width: int | None) -> Iterator["Text"]:
    from rich.console import Console
    from rich.text import Text

    lines = [text] if width is None else text.wrap(Console(width=width), width - MARGIN)
    for line in lines:
        line.rstrip()
        yield Text(" " * MARGIN).append_text(line)


def _say(answer: "SearchResult", asked: str, thing: str) -> None:
    for sentence in summarize(answer, asked, thing):
        output.say(sentence)


def summarize(answer: "SearchResult", asked: str, thing: str = "page") -> Iterator[str]:
    page, shown = answer.page, words.clean(asked)[:200]
    if answer.note:
        yield words.clean(answer.note)
    if page.is_empty_query:
        yield "Nothing to look for is left: write at least one word that is not without, and not as common as `the`."
    elif answer.is_corrected:
        yield f"No {thing} was found for {shown}. These have {words.clean(answer.suggestion)}: {_total(page, thing)}."
    elif not page.hits and page.looked_at and page.total == 0:
        looked_at = words.things(page.looked_at, thing)
        yield f"None of the likeliest {looked_at} for {shown} has it. There are more: {NARROWER}."
    elif not page.hits:
        yield f"No {thing} was found for {shown}{_unsearched(answer, thing)}."
    else:
        yield f"{_total(page, thing)}{_facets(page)}"
        if answer.suggestion:
            yield f"Did you mean {words.clean(answer.suggestion)}?"
    if page.looked_at and page.hits:
        looked_at = words.count(page.looked_at)
        yield f"The likeliest {looked_at} were ranked and counted, not all. To see others: {NARROWER}."
    if page.next_after:
        yield f"The next: --after {page.next_after}"
    if answer.waiting:
        late = words.things(answer.waiting, "page")
        yield f"{late} read lately cannot be found yet: forager schedule run index --once"


def _unsearched(answer: "SearchResult", thing: str) -> str:
    """Returns what was not looked at, so that nothing is said of it."""
    parts = [
        *([f"{words.things(answer.waiting, 'page')} read lately"] if answer.waiting else []),
        *([f"the ends of {words.things(answer.cut, 'long page')}"] if answer.cut else []),
        *([f"{words.things(answer.noindex, 'page')} with noindex"] if answer.noindex else []),
    ]
    if not parts or thing != "page":
        return ""
    return f" among the indexed words of the pages that were read; not looked at: {', '.join(parts)}"


def _total(page: "HitPage", thing: str) -> str:
    return ("about " if page.is_estimate else "") + words.things(page.total, thing)


def _facets(page: "HitPage") -> str:
    parts = []
    for counts in page.facets.values():
        values = list(counts.items())
        if len(values) > 1:
            most = [f"{words.clean(value)} {words.count(count)}" for value, count in values[:MOST_SHOWN_FACETS]]
            parts.append(", ".join([*most, *(["…"] if len(values) > MOST_SHOWN_FACETS else [])]))
    return "".join(f"; {part}" for part in parts)
