"""Seeds from arguments and lists. Arguments are validated before anything starts; the bad lines of a list are reported
by number while its good ones are used, and a list is never held in memory as a whole.

A bare domain becomes https. The package `seeds` parses lists.
"""

import itertools
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from typing import IO, TYPE_CHECKING
from urllib.parse import urlsplit

from forager.errors import BadUrlError, ConfigurationError, UsageError
from forager.runs.models import Scope

if TYPE_CHECKING:
    from forager.seeds.found import ReadCounts, Seed
    from forager.seeds.service import SeedList
    from forager.seeds.table import Shape

PIECE_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Start:
    """Where a crawl begins."""

    named: tuple[str, ...]
    """Asked for by a person, one by one."""
    listed: "SeedList"
    first: tuple[str, ...]
    """The list's seeds; of a long one as many as could be looked at before it is planted."""
    tallies: "Sequence[ReadCounts]" = ()
    """What was read of the list so far."""
    bare: tuple[str, ...] = ()
    """Those of `named` that were written without a scheme."""

    @property
    def seeds(self) -> tuple[str, ...]:
        """Those the order names."""
        return self.named if self.listed.is_long else (*self.named, *self.first)


def gather(arguments: Sequence[str], file: str | None, *, is_known: bool = False) -> Start:
    """Every seed once, normalised. Refuses an argument that is no URL, and a list in which no line is one."""
    from forager.seeds.service import MOST_NAMED, NO_LIST, SeedList

    named, bare = name_seeds(arguments), find_bare(arguments)
    if is_known and (named or file is not None):
        raise UsageError("--known takes what was loaded before; give it no URL and no list, or leave it out.")
    if file is None:
        if not named and not is_known:
            raise UsageError(
                "No URL was given. Write: forager crawl https://example.com, or -f FILE with one URL per line, "
                "or --known for all that was loaded before."
            )
        return Start(named, NO_LIST, (), bare=bare)
    tally, seeds = open_list(file)
    first = tuple(itertools.islice(seeds, MOST_NAMED + 1))
    if not first and not named:
        raise UsageError(no_seeds_message(tally))
    source = source_of(file)
    if len(first) > MOST_NAMED:
        return Start(named, SeedList(source, itertools.chain(first, seeds), is_long=True), _urls(first), [tally], bare)
    others = {seed.url: seed for seed in first if seed.url not in set(named)}
    return Start(named, SeedList(source, tuple(others.values())), tuple(others), [tally], bare)


def name_seeds(arguments: Sequence[str]) -> tuple[str, ...]:
    """Arguments as URLs, each once. Says so where one carries a user name and password: they are not part of a URL."""
    from forager.seeds.found import credentials_note, to_url

    try:
        named = tuple(dict.fromkeys(map(to_url, arguments)))
    except BadUrlError as error:
        raise UsageError(str(error)) from None
    for note in filter(None, map(credentials_note, arguments)):
        _say_once(note)
    return named


@cache
def _say_once(note: str) -> None:
    """Seeds are read more than once; a person is told once."""
    from forager.cli import output

    output.say(note)


def find_bare(arguments: Sequence[str]) -> tuple[str, ...]:
    """The arguments without a scheme, as URLs: https is a guess."""
    from forager.seeds.found import is_bare_host, to_url

    typed = {to_url(text) for text in arguments if not is_bare_host(text)}
    return tuple(
        url for url in dict.fromkeys(to_url(text) for text in arguments if is_bare_host(text)) if url not in typed
    )


def open_list(file: str, shape: "Shape" = "auto") -> tuple["ReadCounts", Iterator["Seed"]]:
    """A list's seeds as they are read, and the tally that grows with them."""
    from forager.seeds.found import ReadCounts
    from forager.seeds.table import read_list
    from forager.seeds.unpack import unpack

    tally = ReadCounts(name_of(file))
    return tally, tally.seeds_of(read_list(unpack(read_pieces(file)), shape))


def read_pieces(file: str) -> Iterator[bytes]:
    """A file's bytes, or those of standard input. It is opened now, so that it is refused now."""
    try:
        stream: IO[bytes] = sys.stdin.buffer if file == "-" else open(file, "rb")  # noqa: SIM115 (closed by the reader)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {(error.strerror or str(error)).lower()}.") from None
    return _pieces(stream)


def _pieces(stream: IO[bytes]) -> Iterator[bytes]:
    with closing(stream):
        while piece := stream.read(PIECE_BYTES):
            yield piece


def name_of(file: str) -> str:
    return "standard input" if file == "-" else file


def source_of(file: str) -> str:
    """What is stored with a domain: the file's name without its folders."""
    return "stdin" if file == "-" else file.rstrip("/").rpartition("/")[2][:100]


def no_seeds_message(tally: "ReadCounts") -> str:
    """A list without a single seed."""
    if not tally.remembered:
        return f"{tally.name} holds no URL; a list has one URL or domain per line."
    bad = tally.remembered[0]
    more = f" So are {tally.bad - 1:,} others." if tally.bad > 1 else ""
    return f"{tally.name} holds no URL: {tally.unit} {bad.line:,} is bad: {bad.why}{more}"


def check_seed_scope(start: Start, scope: Scope, include: Sequence[str], *, is_known: bool = False) -> None:
    """Where every page must be compared with every seed, seeds cannot be without number."""
    from forager.seeds.service import MOST_NAMED

    if is_known and scope in {Scope.PAGE, Scope.PREFIX}:
        raise UsageError(f"--scope {scope} needs seeds to compare with, and --known has none: use host, domain or any.")
    if not start.listed.is_long:
        return
    if scope in {Scope.PAGE, Scope.PREFIX}:
        raise UsageError(
            f"--scope {scope} takes at most {MOST_NAMED:,} seeds, and the list has more: "
            "split it, or use --scope host, domain or any."
        )
    if include:
        raise UsageError(f"--include takes at most {MOST_NAMED:,} seeds, and the list has more: split it.")


def require_contact(seeds: Iterable[str], contact: str | None) -> None:
    """Whoever crawls somebody else's server says whom to write to."""
    if contact:
        return
    foreign = next((seed for seed in seeds if not is_loopback(seed)), None)
    if foreign is not None:
        raise ConfigurationError(
            f"Crawling {urlsplit(foreign).netloc} needs a contact that site owners can write to: "
            "use --contact you@example.com, or set FORAGER_CONTACT or `contact` in forager.toml."
        )


def require_known_contact(contact: str | None) -> None:
    if not contact:
        raise ConfigurationError(
            "--known may reach any site that was loaded, so it needs a contact that site owners can write to: "
            "use --contact you@example.com, or set FORAGER_CONTACT or `contact` in forager.toml."
        )


def is_loopback(url: str) -> bool:
    """A loopback address written as such; names are not trusted, except the one that cannot mean anything else."""
    from ipaddress import ip_address

    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _urls(seeds: Iterable["Seed"]) -> tuple[str, ...]:
    return tuple(seed.url for seed in seeds)
