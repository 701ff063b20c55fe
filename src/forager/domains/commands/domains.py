"""`forager domains`: lists domains; verbs that concern many of them: top, claims, score, rebuild, merge, and those of
`groups.py`, `many.py` and `denied.py`."""

from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output, table
from forager.cli.flags import AsJson, DomainStatus, Home, Limit
from forager.cli.help import Command, Group
from forager.cli.start import Noted, begin, repair, run_query, whoami
from forager.cli.table import Cell, Note, color_cell, extra, number, say_more, text_column, wrap_column
from forager.domains.commands import denied, groups, many
from forager.domains.commands.set import refresh_cooldown
from forager.errors import UsageError

if TYPE_CHECKING:
    from forager.config.settings import Settings
    from forager.explain.rebuild import Merged, RebuildResult

Row = dict[str, Any]
NOTHING_KNOWN = "Nothing is known yet. Try: forager crawl https://example.com"
MOST_SCORES = 20
"""Domains that `forager domains score` shows."""
MOST_SHOWN = 20
"""Corrections of a repair that are shown; `--json` has all of them."""
Status = Annotated[DomainStatus | None, typer.Option(help="Only domains in this state.")]
Trial = Annotated[bool, typer.Option("--dry-run", help="Only show what would be done.")]


class By(StrEnum):
    YIELD = "yield"
    SCORE = "score"
    PAGES = "pages"
    ERRORS = "errors"
    CHANGE = "change"


def register(app: typer.Typer) -> None:
    family = typer.Typer(
        cls=Group,
        rich_markup_mode=None,
        subcommand_metavar="[VERB]",
        help="List the domains; pause, resume, reset many of them; the deny list.",
    )
    family.callback(invoke_without_command=True)(domains)
    for name, function in (
        ("top", top),
        ("claims", claims),
        ("score", score),
        ("rebuild", rebuild),
        ("merge", merge),
    ):
        family.command(name, cls=Command)(function)
    groups.register(family)
    many.register(family)
    denied.register(family)
    app.add_typer(family, name="domains", rich_help_panel="Look")


def domains(
    context: typer.Context,
    *,
    status: Status = None,
    source: Annotated[str | None, typer.Option(help="Only found so: link, seed, tranco …", metavar="NAME")] = None,
    parser: Annotated[str | None, typer.Option(help="Only set to this parser.", metavar="NAME")] = None,
    parent: Annotated[str | None, typer.Option(help="Only below this registrable domain.", metavar="NAME")] = None,
    label: Annotated[str | None, typer.Option(help="Only for workers with this label.", metavar="LABEL")] = None,
    run: Annotated[int | None, typer.Option(help="Only of this run.", metavar="N")] = None,
    contains: Annotated[str | None, typer.Option(help="Only with this in the name.", metavar="TEXT")] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """List the domains; pause, resume, reset many of them; the deny list."""
    filters: Row = {
        "status": status,
        "source": source,
        "parser": parser,
        "parent": parent,
        "label": label,
        "run": run,
        "part": contains,
    }
    if context.invoked_subcommand is not None:
        if any(each is not None for each in filters.values()) or limit != 50 or as_json or home:
            verb = context.invoked_subcommand
            raise UsageError(f"Flags of `{verb}` stand behind it: forager domains {verb} --json.")
        return None
    rows = run_query(
        begin(home=home), "domains", lambda connection: _rank(connection, by=By.PAGES, limit=limit, **filters)
    )
    if as_json:
        return output.write_json_list(rows)
    table.write(
        (
            *(wrap_column("domain"), "status", number("pages"), extra(number("left")), extra(number("errors"))),
            *(number("images"), extra(number("per page")), "last crawled", extra(number("score"))),
        ),
        list(_listed(rows, clock.now())),
    )
    is_filtered = any(each is not None for name, each in filters.items() if name != "status")
    none = "No domain fits." if is_filtered else f"No domain is {status}." if status else NOTHING_KNOWN
    return say_more(rows, limit, "domains", none)


async def _rank(connection: Any, *, by: By, limit: int, **filters: Any) -> list[Row]:
    from forager.domains import queries as domain_queries

    rows = await domain_queries.top_domains(connection, by=by.value, limit=limit, **filters)
    waiting = await domain_queries.count_waiting_images(connection, [row["name"] for row in rows])
    return [row | {"images_waiting": waiting.get(row["name"], 0)} for row in rows]


def _listed(rows: list[Row], now: datetime) -> Iterator[tuple[str | Cell, ...] | Note]:
    for row in rows:
        yield (
            words.clean(row["name"]),
            color_cell(_state(row)),
            _pages(row),
            words.count(row["frontier_size"]),
            words.count(row["total_error_count"]),
            _images(row),
            _yield(row),
            words.format_relative(row["last_crawled_at"], now),
            f"{row['priority_score']:.1f}",
        )
        if why := _block_reason(row, now):
            yield Note(f"  └─ {words.clean(why)}")


def _state(row: Row) -> str:
    if not row["is_active"] and not row["block_reason_code"]:
        return "paused"
    return "leased" if row["is_leased"] else str(row["status"])


def _pages(row: Row) -> str:
    """Visited of known. Not the number of visits: with every revisit that grows, and the pages do not."""
    known, waiting = row["pages_discovered"], row["frontier_size"] - row["images_waiting"]
    return f"{words.count(max(0, known - waiting))}/{words.count(known)}"


def _images(row: Row) -> str:
    """Stored of seen; only those that were seen where none are stored, as by default."""
    seen, stored = words.count(row["images_found"]), row["images_stored"]
    return f"{words.count(stored)}/{seen}" if stored else seen


def _yield(row: Row) -> str:
    """Per page: stored images, or those that were seen where none are stored."""
    if not row["pages_crawled"]:
        return "–"
    return f"{row['image_yield_rate'] if row['images_stored'] else row['avg_images_per_page']:.2f}"


def _block_reason(row: Row, now: datetime) -> str:
    """The reason, and when it ends."""
    from forager.domains.commands.card import format_cooldown

    reason = row["block_reason"] or words.plain_reason(row["block_reason_code"])
    rest = format_cooldown(row, now).removeprefix(", ")
    if reason:
        return f"reason: {reason}" + (f" ({rest})" if rest else "")
    if row["is_budget_used"] and row["frontier_size"] and row["status"] in {"pending", "active"}:
        until = row["budget_resets_at"]
        return "its page budget is used up" + (f", until {words.format_relative(until, now)}" if until else "")
    return f"rests, {rest}" if rest and row["status"] in {"pending", "active"} else ""


def top(
    by: Annotated[By, typer.Option(help="What to rank by.")] = By.YIELD,
    limit: Limit = 20,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Rank domains by images per page, score, pages, errors or change."""
    rows = run_query(begin(home=home), "domains", lambda connection: _rank(connection, by=by, limit=limit))
    if as_json:
        return output.write_json_list(rows)
    table.write(
        (
            wrap_column("domain"),
            number("pages"),
            number("images"),
            number("yield"),
            number("score"),
            number("errors"),
            number("changed"),
        ),
        [
            (
                words.clean(row["name"]),
                _pages(row),
                _images(row),
                _yield(row),
                f"{row['priority_score']:,.0f}",
                words.count(row["total_error_count"]),
                "–" if row["change_rate"] is None else f"{row['change_rate']:.0%}",
            )
            for row in rows
        ],
    )
    return say_more(rows, limit, "domains", NOTHING_KNOWN)


def claims(as_json: AsJson = False, home: Home = None) -> None:
    """Show how many domains each worker holds, and how many wait."""
    from forager.workers import queries as worker_queries

    settings = begin(home=home)
    found = run_query(
        settings,
        "domains",
        lambda connection: worker_queries.list_claims(connection, dead_after_s=settings.worker.dead_after),
    )
    if as_json:
        return output.write_json(found)
    table.write(
        (
            number("worker"),
            number("run"),
            number("domains"),
            "first ends",
            "heard from",
            wrap_column("host"),
            number("pid"),
        ),
        list(_lease_rows(found["workers"], clock.now())),
    )
    return output.say(say_claims(found))


def _lease_rows(workers: list[Row], now: datetime) -> Iterator[tuple[str | Cell, ...] | Note]:
    for row in workers:
        yield (
            str(row["worker"]),
            str(row["run_id"] or "–"),
            words.count(row["domains"]),
            words.format_relative(row["earliest_expiry"], now),
            words.format_relative(row["heartbeat_at"], now),
            words.clean((row["host"] or "unknown").partition("/")[0]),
            str(row["pid"] or "–"),
        )
        if row["is_lost"] or row["expired"]:
            yield Note("  └─ dead or silent: the next claim, or `forager recover`, frees its domains", "yellow")


def say_claims(found: Row) -> str:
    waiting = [
        f"{words.count(row['domains'])} {row['status']} ({words.count(row['due'])} due)" for row in found["waiting"]
    ]
    lost = max(found["stuck"], found["expired"])
    stuck = f", {words.count(lost)} of them stuck" if lost else ""
    return f"{words.things(found['held'], 'domain')} held{stuck}; waiting: {', '.join(waiting) or 'none'}."


def score(as_json: AsJson = False, home: Home = None) -> None:
    """Compute the scores of all domains now, and show the highest with their terms."""
    from forager.domains.queries import best_scores
    from forager.domains.score import score_all
    from forager.domains.score_terms import LABELS, UNITS

    settings = begin(home=home)

    async def work(pool: Any) -> tuple[int, list[dict[str, Any]]]:
        async with pool.acquire() as connection:
            written = await score_all(connection, is_scored=settings.crawl.domain_order == "smart")
            return written, await best_scores(connection, limit=MOST_SCORES)

    noted = partial(Noted, "domain.score", "domain", None)
    written, best = repair(settings, "domains", work, noted=lambda done: noted({"written": done[0]}))
    if as_json:
        return output.write_json({"written": written, "units": UNITS, "domains": best})
    if best:
        heads = (wrap_column("domain"), number("score"), *(number(label) for label in LABELS.values()))
        table.write(
            heads,
            [
                (
                    words.clean(row["domain"]),
                    f"{row['priority_score']:,.0f}",
                    *(f"{term['points']:+,.0f}" if round(term["points"]) else "" for term in row["score_explained"]),
                )
                for row in best
            ],
        )
        for name, unit in UNITS.items():
            output.say(f"{LABELS[name]}: {unit}.")
    return output.say(f"{words.things(written, 'score')} written; the others had not changed by half a point.")


def rebuild(as_json: AsJson = False, home: Home = None) -> None:
    """Recount everything and repair impossible states."""
    from forager.explain.rebuild import rebuild as count_anew

    settings = begin(home=home)
    done = repair(
        settings,
        "domains",
        lambda pool: count_anew(pool, by=whoami(), **_get_cooldowns(settings)),
        noted=lambda done: Noted(
            "domain.rebuild",
            "domain",
            None,
            {"domains": done.domains, "mended": len(done.mended), "skipped": done.skipped},
        ),
    )
    if as_json:
        return output.write_json(asdict(done))
    if done.mended:
        table.write(
            (wrap_column("domain"), "what", number("was"), number("is")),
            [(words.clean(each.domain), each.what, str(each.was), str(each.now)) for each in done.mended[:MOST_SHOWN]],
        )
    return output.say(rebuild_message(done))


def rebuild_message(done: "RebuildResult") -> str:
    wrong = len({each.domain for each in done.mended})
    values = words.things(len(done.mended), "value")
    found = f"{values} of {words.things(wrong, 'domain')} put right" if wrong else "nothing was wrong"
    more = f" (the first {MOST_SHOWN} are shown)" if len(done.mended) > MOST_SHOWN else ""
    skipped = f" {words.things(done.skipped, 'domain')} being worked on left out." if done.skipped else ""
    return f"{words.things(done.domains, 'domain')} recounted: {found}{more}.{skipped}"


def merge(dry_run: Trial = False, as_json: AsJson = False, home: Home = None) -> None:
    """Merge domains whose names mean the same site."""
    from forager.explain.rebuild import merge as make_one

    settings = begin(home=home)
    done = repair(
        settings,
        "domains",
        lambda pool: make_one(
            pool, by=whoami(), dead_after_s=settings.worker.dead_after, is_trial=dry_run, **_get_cooldowns(settings)
        ),
        noted=lambda done: None if dry_run or not done else _noted_merge(done),
    )
    if as_json:
        return output.write_json_list([asdict(each) for each in done])
    if done:
        table.write(
            (wrap_column("domain"), number("pages moved"), number("known twice"), text_column("was")),
            [
                (
                    words.clean(each.name),
                    words.count(each.pages_moved),
                    words.count(each.pages_twice),
                    words.clean(", ".join(each.names)),
                )
                for each in done
            ],
        )
    return output.say(say_merged(done, dry_run))


def _noted_merge(done: list["Merged"]) -> Noted:
    became = {each.name: each.names for each in done}
    return Noted("domain.merge", "domain", None, {"domains": len(done), "became": became})


def say_merged(done: list["Merged"], is_trial: bool) -> str:
    if not done:
        return "Every name is spelled as it should be; nothing to merge."
    names = words.things(sum(len(each.names) for each in done), "name")
    result = words.things(len(done), "domain")
    return f"{names} would become {result}; without --dry-run they do." if is_trial else f"{names} became {result}."


def _get_cooldowns(settings: "Settings") -> dict[str, Any]:
    """How long a domain rests whose state is mended."""
    return {"refresh_every_s": refresh_cooldown(settings), "refused_rest_s": settings.cooldown.forbidden}
