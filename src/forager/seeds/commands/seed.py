"""`forager seed`: loads lists of URLs and domains for later crawls. Sends no requests except for sitemaps."""

import sys
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager.cli import command_hints as hints
from forager.cli import format as words
from forager.cli import output
from forager.cli.flags import Home
from forager.cli.help import Command
from forager.cli.start import Noted, begin, note, whoami
from forager.errors import UsageError
from forager.seeds.commands import arguments as seeds
from forager.seeds.commands import report as seed_report

if TYPE_CHECKING:
    from forager.config.settings import Settings
    from forager.seeds.found import BadLine, Found, ReadCounts, Seed
    from forager.seeds.service import Loaded

INTERRUPTED, BAD_LINES = 11, 2
FROM, TO = "From", "Output"
LONGEST_SOURCE = 100


class ListFormat(StrEnum):
    AUTO = "auto"
    LINES = "lines"
    CSV = "csv"


Named = Annotated[list[str] | None, typer.Argument(metavar="URL", help="Seeds; a bare domain means https.")]
SeedFile = Annotated[
    str | None,
    typer.Option(
        "--file", "-f", metavar="FILE", help="A list, also CSV with ranks, also .gz; - for stdin.", rich_help_panel=FROM
    ),
]
Sitemap = Annotated[
    str | None, typer.Option(metavar="PLACE", help="A sitemap: its URL, or a local file.", rich_help_panel=FROM)
]
Format = Annotated[
    ListFormat, typer.Option("--format", metavar="FORMAT", help="auto, lines or csv.", rich_help_panel=FROM)
]
Source = Annotated[
    str | None,
    typer.Option("--source", metavar="NAME", help="Kept with new domains; default: the file.", rich_help_panel=FROM),
]
Contact = Annotated[
    str | None, typer.Option(metavar="WHO", help="E-mail or URL that site owners can write to.", rich_help_panel=FROM)
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run", help="Show what would be loaded and what would be rejected; change nothing.", rich_help_panel=TO
    ),
]
Hold = Annotated[
    bool,
    typer.Option("--hold", help="New domains are paused until they are resumed.", rich_help_panel=FROM),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary.", rich_help_panel=TO)]
AsJson = Annotated[bool, typer.Option("--json", help="The summary as JSON on standard output.", rich_help_panel=TO)]


@dataclass(frozen=True, slots=True)
class Batch:
    """Everything one of the places gives."""

    source: str
    tally: "ReadCounts"
    found: "AsyncIterator[Seed | BadLine]"

    async def seeds(self) -> "AsyncIterator[Seed]":
        async for item in self.found:
            if (seed := self.tally.take(item)) is not None:
                yield seed


def register(app: typer.Typer) -> None:
    app.command("seed", cls=Command, rich_help_panel="Crawl")(seed)


def seed(
    urls: Named = None,
    *,
    file: SeedFile = None,
    sitemap: Sitemap = None,
    list_format: Format = ListFormat.AUTO,
    source: Source = None,
    contact: Contact = None,
    hold: Hold = False,
    dry_run: DryRun = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Load seeds without crawling: known domains and pages keep their state."""
    if not urls and file is None and sitemap is None:
        raise UsageError("No seed was given. Write: forager seed example.com, or -f FILE, or --sitemap URL.")
    if file == sitemap == "-":
        raise UsageError("-f - and --sitemap - both want standard input; give one of them a file.")
    _check_source(source)
    named = seeds.name_seeds(urls or [])
    settings = begin(home=home, contact=contact)
    batches = [
        *([_from_arguments(named, seeds.find_bare(urls or []), source)] if named else []),
        *([_from_list(file, list_format, source)] if file is not None else []),
        *([_from_sitemap(sitemap, settings, source)] if sitemap is not None else []),
    ]
    import asyncio

    tallies = [batch.tally for batch in batches]
    if dry_run:
        asyncio.run(_show(batches, as_json=as_json))
    else:
        try:
            asyncio.run(_load(settings, batches, is_held=hold, is_quiet=quiet, as_json=as_json))
        except KeyboardInterrupt:
            taken = words.things(sum(tally.seeds for tally in tallies), "seed")
            output.say(f"Stopped after {taken}; the same command adds the rest.")
            raise typer.Exit(INTERRUPTED) from None
    if any(tally.bad for tally in tallies):
        raise typer.Exit(BAD_LINES)


# Where seeds come from ----------------------------------------------------------------------------------------------


def _from_arguments(named: Sequence[str], bare: Sequence[str], source: str | None) -> Batch:
    from forager.seeds.found import ReadCounts, Seed

    found = (Seed(url, None, number, url in bare) for number, url in enumerate(named, start=1))
    return Batch(source or "seed", ReadCounts("the command line", "argument"), _flow(found))


def _from_list(file: str, shape: ListFormat, source: str | None) -> Batch:
    from forager.seeds.found import ReadCounts
    from forager.seeds.table import read_list
    from forager.seeds.unpack import unpack

    found = read_list(unpack(seeds.read_pieces(file)), shape.value)
    return Batch(source or seeds.source_of(file), ReadCounts(seeds.name_of(file)), _flow(found))


def _from_sitemap(place: str, settings: "Settings", source: str | None) -> Batch:
    from forager.seeds.found import ReadCounts
    from forager.seeds.sitemap import read_sitemap
    from forager.seeds.sitemap_fetch import follow_sitemap
    from forager.seeds.unpack import unpack

    if place.lower().startswith(("http://", "https://")):
        url = seeds.name_seeds([place])[0]
        seeds.require_contact([url], settings.contact)
        return Batch(source or "sitemap", ReadCounts(url, "entry"), follow_sitemap(settings, url))
    found = map(_without_index, read_sitemap(unpack(seeds.read_pieces(place))))
    return Batch(source or "sitemap", ReadCounts(seeds.name_of(place), "entry"), _flow(found))


def _without_index(found: "Found") -> "Seed | BadLine":
    """A file does not make us ask the network."""
    from forager.seeds.found import BadLine, Nested

    if isinstance(found, Nested):
        return BadLine(
            found.line, f"it is another sitemap and is not followed from a file; --sitemap {found.url} does."
        )
    return found


async def _flow(found: "Iterable[Seed | BadLine]") -> "AsyncIterator[Seed | BadLine]":
    for item in found:
        yield item


def _check_source(source: str | None) -> None:
    if source is not None and not (source.strip() and source.isprintable() and len(source) <= LONGEST_SOURCE):
        raise UsageError(f"--source is a name of 1 to {LONGEST_SOURCE} printable characters.")


# What becomes of them -----------------------------------------------------------------------------------------------


async def _load(
    settings: "Settings", batches: Sequence[Batch], *, is_held: bool, is_quiet: bool, as_json: bool
) -> None:
    """Nothing is opened before there is a seed to load."""
    from forager import clock
    from forager.instance import open_forager
    from forager.seeds.service import Loaded, load_seeds

    loaded, tallies, began_at = Loaded(), [batch.tally for batch in batches], clock.monotonic()
    flows = [await _begin(batch) for batch in batches]
    if not any(tally.seeds for tally in tallies):
        raise UsageError(seeds.no_seeds_message(tallies[0]))
    async with open_forager(settings, application="forager seed", connections=1) as forager:
        with seed_report.open_progress(is_quiet=is_quiet) as show:
            for batch, flow in zip(batches, flows, strict=True):
                await load_seeds(
                    forager.database,
                    flow,
                    loaded,
                    source=batch.source,
                    is_scored=settings.crawl.domain_order == "smart",
                    on_loaded=lambda so_far: show(so_far.seeds),
                    held_by=whoami() if is_held else None,
                )
        await note(forager.database, _noted(loaded, batches, is_held=is_held))
    if is_held and loaded.new_domains and not is_quiet:
        output.say(_held(batches))
    _tell(loaded, tallies, clock.monotonic() - began_at, is_quiet=is_quiet, as_json=as_json)


def _noted(loaded: "Loaded", batches: Sequence[Batch], *, is_held: bool) -> Noted:
    details = {"seeds": loaded.seeds, "new_domains": loaded.new_domains, "new_pages": loaded.new_pages}
    sources = [batch.source for batch in batches]
    return Noted("frontier.seed", "frontier", None, details | {"sources": sources, "is_held": is_held or None})


def _held(batches: Sequence[Batch]) -> str:
    """What starts the domains that were added paused."""
    commands = [f"`{hints.resume_source(batch.source)}`" for batch in batches]
    return f"New domains are paused: nothing of them is visited. {' and '.join(commands)} starts them."


async def _begin(batch: Batch) -> "AsyncIterator[Seed]":
    """A batch's seeds, the first of which was looked for already."""
    rest = batch.seeds()
    first = await anext(rest, None)

    async def iter_seeds() -> "AsyncIterator[Seed]":
        if first is not None:
            yield first
        async for seed in rest:
            yield seed

    return iter_seeds()


def _tell(
    loaded: "Loaded", tallies: "Sequence[ReadCounts]", elapsed_s: float, *, is_quiet: bool, as_json: bool
) -> None:
    if as_json:
        output.write_json(
            {
                "lines": sum(tally.lines for tally in tallies),
                "seeds": loaded.seeds,
                "new_domains": loaded.new_domains,
                "new_pages": loaded.new_pages,
                "known": loaded.known,
                "denied": loaded.denied,
                "bad": sum(tally.bad for tally in tallies),
                "bad_lines": seed_report.as_documents(tallies),
                "elapsed_s": round(elapsed_s, 3),
            }
        )
    if not is_quiet:
        for line in seed_report.sum_up(loaded, tallies, elapsed_s):
            output.say(line)
        seed_report.say_bad_lines(tallies)


async def _show(batches: Sequence[Batch], *, as_json: bool) -> None:
    """Each line with what would become of it; no database is opened."""
    for batch in batches:
        async for found in batch.found:
            batch.tally.take(found)
            row = _row(found, batch.source)
            sys.stdout.write(output.as_json(row) + "\n" if as_json else _line(row))
    taken, bad = (sum(getattr(batch.tally, name) for batch in batches) for name in ("seeds", "bad"))
    output.say(f"{words.things(taken, 'seed')} would be taken, {words.things(bad, 'line')} not; nothing was changed.")


def _row(found: "Seed | BadLine", source: str) -> dict[str, Any]:
    from forager.seeds.found import Seed
    from forager.urls.domain import domain_of

    if isinstance(found, Seed):
        domain = domain_of(found.url)
        return {"line": found.line, "url": found.url, "domain": domain, "rank": found.rank, "source": source}
    return {"line": found.line, "error": found.why}


def _line(row: dict[str, Any]) -> str:
    if "error" in row:
        return f"{row['line']:>9}  bad: {words.clean(row['error'])}\n"
    rank = f"  rank {row['rank']}" if row["rank"] is not None else ""
    return f"{row['line']:>9}  {row['url']}{rank}\n"
