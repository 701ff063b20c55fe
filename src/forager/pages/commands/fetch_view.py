"""How one fetched page is shown: the way to it, how long it took, what was read. Crawled text is only text here."""

from collections import Counter
from typing import TYPE_CHECKING, Any

from forager.cli import format as words
from forager.cli import output
from forager.pages.commands.page import day, item_types, rating

if TYPE_CHECKING:
    from rich.console import Console

    from forager.fetch.models import Fetched
    from forager.links.models import Selection
    from forager.pages.fetch_one import RequestStep, Seen
    from forager.parsing.models import Reading

LABEL = 13
LONGEST_VALUE = 300


def write(seen: "Seen", *, with_headers: bool, most_links: int) -> None:
    screen = output.console()
    for hop in seen.hops:
        _write_hop(screen, hop)
    fetched = seen.fetched
    if fetched is None:
        return
    size = f"{words.size(len(fetched.body))}, {words.size(fetched.wire_bytes)} on the wire"
    _line(screen, "body", size + (", cut short" if fetched.is_truncated else ""))
    if with_headers:
        _write_headers(screen, fetched)
    if seen.reading is not None:
        _write_reading(screen, seen, seen.reading, fetched.url)
    if seen.selection is not None and seen.reading is not None:
        _write_links(screen, seen.reading, seen.selection, most_links)


def header_lines(fetched: "Fetched") -> list[tuple[str, str]]:
    """As they were sent, repeated ones apart."""
    if fetched.raw is None:
        return list(fetched.headers.items())
    return [(name.decode("latin-1"), value.decode("utf-8", "replace")) for name, value in fetched.raw.headers]


def reading_document(reading: "Reading") -> dict[str, Any]:
    """Every field of a reading but its links, which are selected elsewhere."""
    from dataclasses import fields

    from forager.reading import parse_items

    found = {field.name: getattr(reading, field.name) for field in fields(reading) if field.name != "links"}
    found["content_hash"] = reading.content_hash.hex()
    found["links_found"] = len(reading.links)
    found["structured_data"] = parse_items(reading.structured_data)
    return {name: _plain(value) for name, value in found.items()}


def _plain(value: Any) -> Any:
    from dataclasses import asdict, is_dataclass

    if isinstance(value, bytes):
        return value.hex()
    if is_dataclass(value) and not isinstance(value, type):
        return {name: _plain(part) for name, part in asdict(value).items()}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: _plain(part) for name, part in value._asdict().items()}
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value


def _write_hop(screen: "Console", hop: "RequestStep") -> None:
    where = f" → {words.clean(hop.location)}" if hop.location else ""
    _line(screen, str(hop.status_code or "not asked"), f"{words.clean(hop.url)}{where}")
    verdict = "allowed" if hop.robots.allowed else "forbidden"
    by = f" by line {hop.robots.line}: {words.clean(hop.robots.rule)}" if hop.robots.line else ""
    delay = f", asks for {hop.crawl_delay_s:g} s between requests" if hop.crawl_delay_s else ""
    _line(screen, "robots.txt", f"{verdict}{by}{delay}")
    if hop.timing.total_ms is not None:
        _line(screen, "time", _timing(hop))


def _timing(hop: "RequestStep") -> str:
    timing = hop.timing
    steps = {"name": timing.name_ms, "connected": timing.sent_ms, "head": timing.head_ms, "all": timing.total_ms}
    told = ", ".join(f"{name} {at:g}" for name, at in steps.items() if at is not None)
    return f"{told} ms" + (f"  ({hop.address})" if hop.address else "")


def _write_headers(screen: "Console", fetched: "Fetched") -> None:
    if fetched.raw is not None:
        for line in fetched.raw.request.decode("ascii", "replace").strip().split("\r\n"):
            _line(screen, ">", words.clean(line))
    for name, value in header_lines(fetched):
        _line(screen, "<", f"{words.clean(name)}: {words.clean(value)}")


def _write_reading(screen: "Console", seen: "Seen", reading: "Reading", url: str) -> None:
    from forager.reading import parse_items

    screen.print()
    for label, value in (
        ("title", reading.title),
        ("headline", reading.headline),
        ("site", reading.site_name),
        ("section", reading.section),
        ("tags", ", ".join(reading.tags)),
        ("description", reading.description),
        ("canonical", reading.canonical if reading.canonical != url else None),
        ("language", _language(reading.language, *seen.detected)),
        ("author", reading.author),
        ("published", day(reading.published_at, reading.published_on)),
        ("modified", day(reading.modified_at, reading.modified_on)),
        ("rating", rating(reading.rating, reading.rating_count)),
        ("headings", reading.headings),
        ("text", reading.text),
        ("challenge", reading.challenge),
        ("flags", ", ".join([*reading.flags, *_directives(reading)])),
        ("hash", f"{reading.content_hash.hex()}  simhash {_simhash(reading)}"),
        ("items", item_types(parse_items(reading.structured_data))),
        ("drawn in", f"{seen.draw_ms:g} ms, by the browser" if seen.draw_ms is not None else None),
        ("read in", f"{seen.read_ms:g} ms" if seen.read_ms is not None else None),
    ):
        if value:
            _line(screen, label, words.clean(value))
    _write_product(screen, reading)
    if reading.listed:
        first = reading.listed[0]
        price = f"{first.product.price:f} {first.product.currency or ''}".rstrip() if first.product.price else "?"
        told = (
            f"{words.things(len(reading.listed), 'product')} with pages of their own, such as {first.product.name} at"
        )
        _line(screen, "listed", words.clean(f"{told} {price}: {first.url}"))


def _language(language: str | None, detected: str | None, sureness: float) -> str:
    """With how it was decided."""
    by_text = f"its text looks like {detected}, {sureness:.0%} sure" if detected else "too little text to tell"
    if language is None:
        return f"unknown: none is declared, and {by_text}"
    return f"{language} ({by_text})" if language == detected else f"{language} (declared; {by_text})"


def _directives(reading: "Reading") -> list[str]:
    asked = {"noindex": reading.is_noindex, "nofollow": reading.is_nofollow, "password form": reading.has_password_form}
    return [name for name, is_set in asked.items() if is_set]


def _simhash(reading: "Reading") -> str:
    return f"{reading.simhash & (2**64 - 1):016x}" if reading.simhash is not None else "– (too little text)"


def _write_product(screen: "Console", reading: "Reading") -> None:
    product = reading.product
    if product is None:
        return
    screen.print()
    _line(
        screen, "product", f"{words.clean(product.name)}  (parser {product.parser_name}, sure {product.confidence:.2f})"
    )
    for name, evidence in product.evidence.items():
        best = evidence[0]
        _line(screen, f"  {name}", f"{words.clean(best.value)}  [{words.clean(best.where)}, {best.confidence:.2f}]")
    if product.problems:
        _line(screen, "  problems", ", ".join(product.problems))


def _write_links(screen: "Console", reading: "Reading", selection: "Selection", most: int) -> None:
    screen.print()
    dropped = ", ".join(f"{count} {reason}" for reason, count in sorted(selection.dropped.items()))
    told = f"{words.count(len(selection.links))} of {words.count(len(reading.links))} found"
    _line(screen, "links", told + (f" (left out: {dropped})" if dropped else ""))
    if reading.images:
        _line(screen, "images", words.count(len(reading.images)))
    kinds = Counter(link.rel for link in selection.links)
    for kind, count in kinds.most_common():
        _line(screen, f"  {kind}", words.count(count))
        for link in [link for link in selection.links if link.rel == kind][:most]:
            anchor = words.clean(link.anchor)
            _line(screen, "", words.clean(link.url) + (f"  {anchor}" if anchor else ""))


def _line(screen: "Console", label: str, value: str) -> None:
    """On a terminal one line each, cut where it ends."""
    from rich.text import Text

    value = value if len(value) <= LONGEST_VALUE else value[: LONGEST_VALUE - 1] + "…"
    line = Text(f"{label:<{LABEL}} ", style="bold" if label and not label.startswith(" ") else "")
    line.append(value, style="default")
    screen.print(line, overflow="ellipsis", no_wrap=True)
