"""What the search part measured, as tables. Pure."""

from collections.abc import Sequence

from bench.search import SearchBench
from bench.search_record import Way
from bench.table import as_markdown, as_text


def show_search(found: SearchBench, ways: Sequence[Way], *, is_markdown: bool) -> str:
    shape = as_markdown if is_markdown else as_text
    asked = shape(
        ("question", "p50 ms", "p95 ms", "CPU ms", "found"),
        [
            (each.kind, f"{each.p50_ms:,.1f}", f"{each.p95_ms:,.1f}", f"{each.cpu_ms:,.1f}", f"{each.found:,}")
            for each in found.asked
        ],
        words=1,
    )
    recorded = shape(
        ("index of keywords", "record µs/page", "later", "unchanged visit"),
        [(way.name, f"{way.record_us:,.0f}", f"{way.later_us:,.0f}", f"{way.again_us:,.0f}") for way in ways],
        words=1,
    )
    sizes = shape(
        ("table or index", "MB"),
        [(size.name, f"{size.megabytes:,.0f}") for size in found.sizes if size.megabytes >= 1],
        words=1,
    )
    title = f"Search among {found.pages:,} pages"
    rates = [
        f"Indexing {which} takes {each.cpu_us:,.0f} µs of CPU, later: {each.pages_per_s:,.0f} pages a second."
        for which, each in (("one of the first", found.first), ("one that changed among all", found.last))
    ]
    parts = (title, asked, "\n".join(rates), "How much room it takes", sizes, "What recording pays", recorded)
    return "\n" + "\n\n".join(parts) + "\n"
