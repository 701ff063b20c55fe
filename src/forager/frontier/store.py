"""One short function per statement of `queries.sql`. Opens no transactions: the floor above does."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from forager.db import statements
from forager.frontier import compiled
from forager.frontier.cache_warm_up import KeyRange
from forager.frontier.compiled import JoinLinks
from forager.frontier.details import ITEMS_CUT, MOST_BYTES
from forager.frontier.lexemes import Lexemes
from forager.frontier.models import Lease, Outcome, Past, Target
from forager.frontier.page_priority import priority_of
from forager.links.models import Discovery, Selection
from forager.parsing.models import Keywords, Reading

SQL = statements.load("forager.frontier")
LINKS_CUT = "links_cut"
"""Flag of a page that has more links than are taken from one."""

T = TypeVar("T")

ANCHORS_BETWEEN = "\x1f"
"""The unit separator counts as white space, of which reading leaves only single spaces: no anchor contains it."""


START_S = 30.0
"""For so long after the first worker of a run started, the announced number of workers is waited for: the one that is
up first does not take the share of those that still start."""


async def claim_domains(
    conn: Any,
    *,
    worker: int,
    run: int,
    limit: int,
    lease_s: float,
    workers: int,
    max_pages_per_domain: int | None,
    labels: Sequence[str] = (),
    offered: Sequence[tuple[int, int]] | None = None,
    live_s: float = 120.0,
) -> list[Lease]:
    """Leases domains that want no label, and those that want one of `labels`; where some are offered, by their ids and
    the versions of their leases, only of these. Workers share that were heard from within `live_s`."""
    start_s = min(live_s, START_S)
    within = (worker, run, limit, lease_s, float(workers), max_pages_per_domain, ["", *labels], live_s, start_s)
    rows = await conn.fetch(SQL["claim_domains"], *within, *((None, None) if offered is None else _columns(offered)))
    return [
        Lease(
            domain_id=row["id"],
            domain=row["name"],
            version=row["version"],
            delay_s=row["crawl_delay_s"],
            wait_s=row["wait_s"] or 0.0,
            max_concurrent_requests=row["max_concurrent_requests"],
            content_policy=row["content_policy"],
            max_pages_per_run=row["max_pages_per_run"],
            max_pages_per_template=row["max_pages_per_template"],
            errors_in_a_row=row["consecutive_error_count"],
            error_streak_code=row["error_streak_code"],
            unreachable_cooldowns=row["unreachable_cooldowns"],
            has_pages=row["has_pages"],
            has_proxies=row["has_proxies"],
            verifies_tls=row["verifies_tls"],
            revisit_every_s=row["revisit_every_s"],
            revisit_price=row["revisit_price"],
            pace_delay_s=row["pace_delay_s"] or 0.0,
            pace_extra_s=row["pace_extra_s"],
            response_s=row["response_s"],
            breaker_state=row["breaker_state"],
            breaker_failures=row["breaker_failures"],
            breaker_open_s=row["breaker_open_s"],
            breaker_resets=row["breaker_resets"],
            images=row["images_policy"],
            images_only=row["images_only"],
            parser_name=row["parser_name"],
            stores_links=row["stores_links"],
            rendering=row["rendering"],
            allow_networks=tuple(row["allow_networks"] or ()),
        )
        for row in rows
    ]


async def still_claimable(
    conn: Any, offered: Sequence[tuple[int, int]], *, run: int, max_pages_per_domain: int | None
) -> set[int]:
    """Of domains that were offered, those that another worker may claim now."""
    rows = await conn.fetch(SQL["still_claimable"], *_columns(offered), run, max_pages_per_domain)
    return {row["id"] for row in rows}


def _columns(offered: Sequence[tuple[int, int]]) -> tuple[list[int], list[int]]:
    return [domain for domain, _ in offered], [version for _, version in offered]


async def free_tasks(conn: Any, domain_ids: Sequence[int]) -> list[tuple[int, int, int]]:
    """What was given back: run, domain, how many pages."""
    return [tuple(row) for row in await conn.fetch(SQL["free_tasks"], domain_ids)]


async def claim_tasks(
    conn: Any,
    wants: Sequence[tuple[Lease, int]],
    *,
    worker: int,
    run: int,
    max_pages_per_domain: int | None,
    max_depth: int,
    patterns: tuple[list[str] | None, list[str] | None, list[str] | None],
) -> list[Target]:
    versions = {lease.domain_id: lease.version for lease, _ in wants}
    rows = await conn.fetch(
        SQL["claim_tasks"],
        list(versions),
        list(versions.values()),
        [want for _, want in wants],
        worker,
        run,
        max_pages_per_domain,
        max_depth,
        *patterns,
    )
    parsers = {lease.domain_id: lease.parser_name for lease, _ in wants}
    return [_target(row, versions, parsers) for row in rows]


def _target(row: Any, versions: Mapping[int, int], parsers: Mapping[int, str]) -> Target:
    task, page, domain, url, depth, redirects, retries, every_s, crashes, is_image, most, recurs, is_revisit, *past = (
        row
    )
    return Target(
        task,
        page,
        domain,
        versions[domain],
        url,
        depth,
        redirects,
        retries,
        Past(*past) if is_revisit else None,
        every_s,
        crashes,
        is_image,
        parsers[domain],
        most,
        recurs,
    )


async def add_pages(
    conn: Any, pages: Sequence[tuple[int, Discovery]], *, is_seed: bool = False, is_image: bool = False
) -> list[Any]:
    """Rows (id, domain_id, url_hash, depth) of the pages that are new."""
    found: list[Any] = await conn.fetch(
        SQL["add_pages"],
        [domain_id for domain_id, _ in pages],
        [page.url for _, page in pages],
        [page.key for _, page in pages],
        [page.depth for _, page in pages],
        [priority_of(page.url, page.depth, is_seed=is_seed, is_image=is_image) for _, page in pages],
        [page.redirects for _, page in pages],
        is_seed,
        is_image,
    )
    return found


async def find_pages(conn: Any, keys: Sequence[tuple[int, bytes]]) -> list[Any]:
    """Rows (id, domain_id, url_hash, depth, is_image) of the pages that are known, by domain and key."""
    found: list[Any] = await conn.fetch(SQL["find_pages"], [domain for domain, _ in keys], [key for _, key in keys])
    return found


async def next_pages(conn: Any, portions: Sequence[KeyRange]) -> list[bytes]:
    """Of each portion the pages that are known, as `UrlCache.add_entries` takes them."""
    rows = await conn.fetch(
        SQL["next_pages"],
        [portion.domain_id for portion in portions],
        [portion.after for portion in portions],
        [portion.most for portion in portions],
    )
    entries = {row["domain_id"]: row["entries"] or b"" for row in rows}
    return [entries[portion.domain_id] for portion in portions]


async def relax_depths(conn: Any, depths: dict[int, int]) -> set[int]:
    """Lower the depths of pages; answers the domains in which a page not yet visited came nearer. Looked at again until
    none moves: links of a page that was being recorded are seen only when its row could be had."""
    woken: set[int] = set()
    while rows := await conn.fetch(SQL["relax_depths"], list(depths), list(depths.values())):
        woken |= {row["domain_id"] for row in rows if row["status"] in {"discovered", "queued"}}
        depths = {row["id"]: row["depth"] for row in rows}
    return woken


async def close_tasks(conn: Any, outcomes: Sequence[Outcome]) -> set[int]:
    """The tasks that were still open and are closed now."""
    rows = await conn.fetch(
        SQL["close_tasks"],
        [outcome.target.task_id for outcome in outcomes],
        [outcome.kind.value for outcome in outcomes],
        [outcome.requested_at for outcome in outcomes],
        [outcome.status_code for outcome in outcomes],
        _empty_if_null([outcome.error.code if outcome.error else None for outcome in outcomes]),
        _empty_if_null([str(outcome.error)[:2000] if outcome.error else None for outcome in outcomes]),
        _empty_if_null([outcome.error.blame.value if outcome.error else None for outcome in outcomes]),
        [outcome.response_time_ms for outcome in outcomes],
        [outcome.wire_bytes for outcome in outcomes],
        _empty_if_null([outcome.is_changed for outcome in outcomes]),
        [outcome.pace_ms for outcome in outcomes],
        _empty_if_null([_array(outcome.earlier_requests) for outcome in outcomes]),
        _empty_if_null([outcome.proxy_id for outcome in outcomes]),
        _empty_if_null([outcome.body_ref for outcome in outcomes]),
    )
    return {row["id"] for row in rows}


def _empty_if_null(column: list[T | None]) -> list[T | None]:
    """A column that may well be empty, as `unnest` takes it beside longer ones: it fills up with NULLs. Else each of
    them is looked at here and there, up to two fifths of all values of a batch."""
    return [] if column.count(None) == len(column) else column


def flags_of(reading: Reading, selection: Selection) -> tuple[str, ...]:
    """Returns the oddities of a page, and whether some of its links or items were left out for their number."""
    flags = (*reading.flags, LINKS_CUT) if selection.dropped.get("too_many") else reading.flags
    return (*flags, ITEMS_CUT) if len(reading.structured_data) > MOST_BYTES else flags


def _array(moments: Sequence[datetime]) -> str | None:
    """As an array literal: most tasks have none, and arrays of arrays must be rectangular."""
    return "{" + ",".join(moment.isoformat() for moment in moments) + "}" if moments else None


async def record_readings(
    conn: Any,
    outcomes: Sequence[tuple[Outcome, Keywords | None]],
    configs: Mapping[str, str],
    lexemes: Lexemes | None = None,
) -> dict[int, int]:
    """Signals of pages that were read, each with its keywords, if it is to have any; answers their depths. `configs`
    are the text-search configurations by language, without its region. With `lexemes`, PostgreSQL is spared the words
    it has seen."""
    readings = [(outcome, outcome.reading, words) for outcome, words in outcomes if outcome.reading is not None]
    if not readings:
        return {}
    chosen = [configs.get((reading.language or "").partition("-")[0], "simple") for _, reading, _ in readings]
    vectors: Sequence[bytes | None] = [None] * len(readings)
    if lexemes is not None:
        vectors = await lexemes.spell(conn, list(zip(chosen, [words for _, _, words in readings], strict=True)))
    rows = await conn.fetch(
        SQL["record_readings"],
        [outcome.target.page_id for outcome, _, _ in readings],
        [reading.title for _, reading, _ in readings],
        [reading.description for _, reading, _ in readings],
        [reading.language for _, reading, _ in readings],
        [reading.content_hash for _, reading, _ in readings],
        [outcome.content_type for outcome, _, _ in readings],
        [len(outcome.selection.links) for outcome, _, _ in readings],
        _empty_if_null([outcome.etag for outcome, _, _ in readings]),
        _empty_if_null([outcome.last_modified for outcome, _, _ in readings]),
        [words.title if words else None for _, _, words in readings],
        [words.headings if words else None for _, _, words in readings],
        [words.text if words else None for _, _, words in readings],
        _empty_if_null([outcome.is_changed for outcome, _, _ in readings]),
        _empty_if_null([",".join(flags_of(reading, outcome.selection)) or None for outcome, reading, _ in readings]),
        [reading.simhash for _, reading, _ in readings],
        [words.description if words else None for _, _, words in readings],
        _empty_if_null([_other_than(outcome.target.url, reading.canonical) for outcome, reading, _ in readings]),
        _empty_if_null([reading.author for _, reading, _ in readings]),
        _empty_if_null([reading.published_at for _, reading, _ in readings]),
        _empty_if_null([reading.modified_at for _, reading, _ in readings]),
        list(configs),
        list(configs.values()),
        chosen,
        vectors,
    )
    return {row["id"]: row["depth"] for row in rows}


def _other_than(url: str, canonical: str | None) -> str | None:
    return None if canonical == url else canonical


async def record_states(conn: Any, states: Sequence[tuple[Outcome, str]]) -> dict[int, int]:
    """Where pages without a reading stand now; answers their depths."""
    if not states:
        return {}
    rows = await conn.fetch(
        SQL["record_states"],
        [outcome.target.page_id for outcome, _ in states],
        [status for _, status in states],
        [outcome.content_type for outcome, _ in states],
        [_count_links(outcome) if status == "fetched" else None for outcome, status in states],
        [outcome.is_changed for outcome, _ in states],
    )
    return {row["id"]: row["depth"] for row in rows}


def _count_links(outcome: Outcome) -> int | None:
    """A page that has not changed keeps its links."""
    return len(outcome.selection.links) if outcome.is_changed is None else None


async def forget_links(conn: Any, page_ids: Sequence[int]) -> None:
    if page_ids:
        await conn.execute(SQL["forget_links"], page_ids)


async def replace_links(conn: Any, outcomes: Sequence[Outcome], page_ids: dict[bytes, int]) -> None:
    """The links of these pages, as their newest reading has them; none where the domain does not store them."""
    linking = [outcome for outcome in outcomes if outcome.selection.links]
    await forget_links(conn, [outcome.target.page_id for outcome in outcomes if not outcome.selection.links])
    if not linking:
        return
    joined = [join_links(outcome.selection.links, page_ids) for outcome in linking]
    await conn.execute(
        SQL["add_links"],
        [outcome.target.domain_id for outcome in linking],
        [outcome.target.page_id for outcome in linking],
        [pages for pages, _, _ in joined],
        _empty_if_null([rels for _, rels, _ in joined]),
        [anchors for _, _, anchors in joined],
    )


def join_links_in_python(links: Sequence[Discovery], page_ids: dict[bytes, int]) -> tuple[str, str | None, str]:
    """The links of one page in three columns: where they lead, what they are unless all are plain, their words."""
    rels = [link.rel for link in links]
    return (
        ",".join([str(page_ids[link.key]) for link in links]),
        None if rels.count("a") == len(rels) else ",".join(rels),
        ANCHORS_BETWEEN.join([link.anchor for link in links]),
    )


join_links: JoinLinks = compiled.join_links or join_links_in_python


async def add_retries(conn: Any, outcomes: Sequence[Outcome]) -> None:
    if outcomes:
        await conn.execute(
            SQL["add_retries"],
            [outcome.target.task_id for outcome in outcomes],
            [outcome.retry_in_s for outcome in outcomes],
        )


async def note_crashes(conn: Any, page_ids: Sequence[int]) -> None:
    if page_ids:
        await conn.execute(SQL["note_crashes"], page_ids)


async def add_revisits(conn: Any, waits: Mapping[int, float]) -> None:
    """Task that was closed → seconds until its page is visited again."""
    if waits:
        await conn.execute(SQL["add_revisits"], list(waits), list(waits.values()))


async def add_errors(conn: Any, outcomes: Sequence[Outcome]) -> None:
    broken = [(outcome, outcome.error) for outcome in outcomes if outcome.stack and outcome.error]
    if broken:
        await conn.execute(
            SQL["add_errors"],
            [outcome.target.task_id for outcome, _ in broken],
            [error.code for _, error in broken],
            [str(error)[:2000] for _, error in broken],
            [outcome.stack for outcome, _ in broken],
        )


async def mark_seeds(conn: Any, page_ids: Sequence[int]) -> None:
    await conn.execute(SQL["mark_seeds"], page_ids)


async def hurry_tasks(conn: Any, page_ids: Sequence[int]) -> None:
    await conn.execute(SQL["hurry_tasks"], page_ids)


async def reopen_pages(conn: Any, page_ids: Sequence[int], *, by: str) -> dict[int, int]:
    """Domain → how many of its pages got a new task."""
    return {row["domain_id"]: row["pages"] for row in await conn.fetch(SQL["reopen_pages"], page_ids, by)}


async def reopen_rejected(conn: Any, domain_ids: Sequence[int], *, by: str) -> dict[int, int]:
    """Domain → how many of its pages that the address guard had rejected got a new task."""
    return {row["domain_id"]: row["pages"] for row in await conn.fetch(SQL["reopen_rejected"], domain_ids, by)}
