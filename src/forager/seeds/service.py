"""Loads seed lists of any length into the database in batches, each in its own transaction.

A kill loses at most the current batch, and the same command then adds what is missing. Memory use is that of one batch.
"""

import hashlib
import itertools
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

from forager.db.database import Database
from forager.engine.stop import StopRequest
from forager.engine.transaction_retry import in_transaction
from forager.runs.models import RunSpec
from forager.runs.start import add_seed_batch, open_run, prepare_run
from forager.seeds.found import Seed
from forager.seeds.load import SeedResult, add_seed_list

PIECE_SEEDS = 5_000
MOST_NAMED = 10_000
"""A run with more seeds does not list them in its config; they exist only as its domains and pages."""
SHOWN = 10
"""How many of those seeds the config lists anyway, for display."""
PATIENCE_S = 60.0


@dataclass(slots=True)
class Loaded:
    """What the seeds loaded so far resulted in."""

    seeds: int = 0
    new_domains: int = 0
    new_pages: int = 0
    denied: int = 0
    """Pages of domains on the deny list, which were left out."""

    @property
    def known(self) -> int:
        """Pages that were known before, or listed twice."""
        return self.seeds - self.new_pages - self.denied

    def add(self, seeds: int, planted: SeedResult) -> None:
        self.seeds += seeds
        self.new_domains += planted.domains
        self.new_pages += planted.pages
        self.denied += planted.denied


OnLoaded = Callable[[Loaded], None]


@dataclass(frozen=True, slots=True)
class SeedList:
    """Seeds found in a list."""

    source: str
    """The source, as stored with the domains."""
    seeds: Iterable[Seed]
    is_long: bool = False
    """Whether there are too many seeds to list in the run config; then they are read once, while they are added."""


NO_LIST = SeedList("", ())


async def load_seeds(
    database: Database,
    seeds: AsyncIterator[Seed],
    loaded: Loaded,
    *,
    source: str,
    is_scored: bool,
    on_loaded: OnLoaded,
    held_by: str | None = None,
) -> None:
    """Adds all seeds without crawling them. Updates `loaded` after each batch. With `held_by`, new domains are paused
    until an operator resumes them."""
    async for piece in _in_pieces(seeds):
        work = partial(add_seed_list, seeds=piece, source=source, is_scored=is_scored, held_by=held_by)
        loaded.add(len(piece), await in_transaction(database, work, give_up_after_s=PATIENCE_S))
        on_loaded(loaded)


async def start_long_run(
    database: Database,
    spec: RunSpec,
    listed: SeedList,
    *,
    by: str,
    is_scored: bool,
    stop: StopRequest,
    on_loaded: OnLoaded,
) -> tuple[int, RunSpec]:
    """Creates a run whose seeds are added in batches; returns its id and its config. If it is stopped before the
    last batch, nothing is crawled yet; the same command starts over and finds the seeds added so far already known."""
    named = spec.seeds
    order, seeds = _name_some(spec, listed.seeds)
    run = await in_transaction(database, partial(prepare_run, spec=order, named=named, by=by))
    loaded, digest = Loaded(seeds=len(named)), hashlib.sha256("\n".join(named).encode())
    async for piece in _in_pieces(flow(seeds)):
        work = partial(add_seed_batch, seeds=piece, spec=order, run=run, source=listed.source, is_scored=is_scored)
        loaded.add(len(piece), await in_transaction(database, work, give_up_after_s=PATIENCE_S))
        digest.update("".join(f"\n{seed.url}" for seed in piece).encode())
        on_loaded(loaded)
        if stop.asked:
            return run, order
    order = replace(order, seeds_total=loaded.seeds, seeds_digest=digest.hexdigest())
    await in_transaction(database, partial(open_run, spec=order, run=run))
    return run, order


async def flow(seeds: Iterable[Seed]) -> AsyncIterator[Seed]:
    """Makes the seeds of a file asynchronous, for callers that also read seeds from the network."""
    for seed in seeds:
        yield seed


async def _in_pieces(seeds: AsyncIterator[Seed]) -> AsyncIterator[list[Seed]]:
    piece: list[Seed] = []
    async for seed in seeds:
        piece.append(seed)
        if len(piece) == PIECE_SEEDS:
            yield piece
            piece = []
    if piece:
        yield piece


def _name_some(spec: RunSpec, seeds: Iterable[Seed]) -> tuple[RunSpec, Iterable[Seed]]:
    """Returns the config to store until all seeds are counted, and an iterable of all seeds."""
    rest = iter(seeds)
    first = list(itertools.islice(rest, SHOWN))
    names = (*spec.seeds, *(seed.url for seed in first))[:SHOWN]
    return replace(spec, seeds=names, seeds_total=0, seeds_digest=""), itertools.chain(first, rest)
