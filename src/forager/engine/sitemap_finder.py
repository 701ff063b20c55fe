"""Finds the sitemaps and feeds of leased domains, and adds them to the frontier as files of their own.

They are named by robots.txt, by an index of sitemaps, by pages that announce a feed, or by a redirect. A site whose
robots.txt names none is asked at the usual places. A file on another host is fetched from there, as the site names it.
Files are added before robots.txt is recorded, and before the page that names them: a crash between the two repeats the
work but loses none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from forager.db.database import Database
from forager.db.types import Connection
from forager.domains import images as file_hosts
from forager.domains import store as domains
from forager.engine.subdomain_limit import SubdomainLimit
from forager.engine.transaction_retry import in_transaction
from forager.frontier import cache_namespace as eras
from forager.frontier import sitemaps
from forager.frontier.enqueue import EnqueueResult, enqueue
from forager.frontier.models import Lease, Outcome
from forager.frontier.sitemaps import SitemapFile
from forager.links.models import Discovery
from forager.runs.models import Scope
from forager.urls.domain import domain_of
from forager.urls.normalize import url_key
from forager.urls.resolve import resolve_links

USUAL_PLACES = ("/sitemap.xml", "/sitemap_index.xml")
MOST_REMEMBERED = 100_000
"""Files whose row is known to exist; a page announces the same feed as the page before it."""
CHUNK = 1000
"""Files that are added in one transaction."""
FOUND_BY = {"sitemap_file": "index", "feed_file": "page", "redirect": "redirect"}


class SitemapFinder:
    def __init__(self, database: Database, run: int, *, is_on: bool, max_subdomains: int, max_files: int) -> None:
        """`is_on` is False for runs that visit nothing but their seeds. `max_files` are taken for one site."""
        self._database = database
        self._run = run
        self._is_on = is_on
        self._subdomains = SubdomainLimit(max_subdomains)
        self._max_files = max_files
        self._named: list[SitemapFile] = []
        self._known: set[bytes] = set()

    def clear(self) -> None:
        """Clears what is remembered of files, because pages were deleted."""
        self._known.clear()

    # named by robots.txt

    def note_robots(self, lease: Lease, origin: str, named: Sequence[str], *, is_fresh: bool) -> None:
        """Notes the sitemaps of a robots.txt, or the usual places where it names none. Those of one that was just
        fetched are also tried again if they failed before."""
        settings = lease.settings
        if not (self._is_on and settings.sitemaps) or settings.scope is Scope.PAGE or lease.images_only:
            return
        urls = resolve_links(f"{origin}/", list(named)) if named else [origin + place for place in USUAL_PLACES]
        found_by = "robots" if named else "guess"
        for url in filter(None, urls):
            file = SitemapFile(_link_to(url), lease.domain_id, found_by)
            if is_fresh or file.link.key not in self._known:
                self._named.append(file)

    async def add_named(self) -> None:
        """Adds the sitemaps that were noted since the last call."""
        named, self._named = self._named, []
        if named:
            await self._add(named)

    # named by pages

    async def add_found(self, outcomes: Sequence[Outcome]) -> list[Outcome]:
        """Adds the files that these pages name. Returns the outcomes with the added ones among their links; the others
        count as dropped."""
        return [await self._add_of(outcome) if outcome.selection.files else outcome for outcome in outcomes]

    async def _add_of(self, outcome: Outcome) -> Outcome:
        target, selection = outcome.target, outcome.selection
        named = [
            SitemapFile(link, target.domain_id, FOUND_BY.get(link.rel, "page"), target.page_id)
            for link in selection.files
        ]
        new = [file for file in named if file.found_by != "page" or file.link.key not in self._known]
        refused = await self._add(new)
        taken = [file.link for file in named if file.link.key not in refused]
        dropped = dict(selection.dropped)
        if refused:
            dropped["too_many"] = dropped.get("too_many", 0) + len(refused)
        return replace(outcome, selection=replace(selection, links=[*selection.links, *taken], dropped=dropped))

    async def _add(self, files: Sequence[SitemapFile]) -> set[bytes]:
        """Adds files in chunks. Returns the keys of those beyond the limits."""
        refused: set[bytes] = set()
        for start in range(0, len(files), CHUNK):
            part = files[start : start + CHUNK]
            refused |= await in_transaction(self._database, partial(self._add_part, files=part))
            if len(self._known) > MOST_REMEMBERED:
                self._known.clear()
            self._known.update(file.link.key for file in part)
        return refused

    async def _add_part(self, conn: Connection, files: Sequence[SitemapFile]) -> set[bytes]:
        await eras.share(conn)
        unique = {file.link.key: file for file in reversed(files)}
        wanted = await self._within_limit(conn, unique)
        learned = EnqueueResult()
        await enqueue(conn, learned, {key: file.link for key, file in wanted.items()}, self._hosts, are_sitemaps=True)
        pages = sorted(learned.page_ids.values())
        await domains.uncount_pages(conn, await sitemaps.mark_sitemaps(conn, pages))
        await domains.update_requeue_counts(conn, await sitemaps.retry_sitemaps(conn, pages))
        added = [(learned.page_ids[key], file) for key, file in wanted.items() if key in learned.page_ids]
        await sitemaps.add_sitemaps(conn, added)
        await file_hosts.count_waiting(conn, learned.new, run=self._run)
        return unique.keys() - learned.page_ids.keys()

    async def _within_limit(self, conn: Connection, files: Mapping[bytes, SitemapFile]) -> dict[bytes, SitemapFile]:
        """Returns the files within the limit of each site. The usual places of a further origin are not tried: those
        of the first one, or what its robots.txt named, were."""
        counts = await sitemaps.count_sitemaps(conn, sorted({file.site_id for file in files.values()}))
        first = dict(counts)
        taken = {}
        for key, file in files.items():
            count = counts.get(file.site_id, 0)
            is_late = file.found_by == "guess" and first.get(file.site_id, 0) > 0 and key not in self._known
            if count < self._max_files and not is_late:
                taken[key] = file
                counts[file.site_id] = count + 1
        return taken

    async def _hosts(self, conn: Connection, bases: Mapping[str, str]) -> Mapping[str, int]:
        """Returns the domains by name; a new one is taken for its sitemaps only."""
        ids = await domains.find_domains(conn, bases)
        strangers = await self._subdomains.admit(conn, {name: bases[name] for name in bases if name not in ids})
        if not strangers:
            return ids
        await file_hosts.add_image_hosts(conn, strangers, run=self._run, source="sitemap")
        return ids | await domains.find_domains(conn, strangers)


def _link_to(url: str) -> Discovery:
    return Discovery(url, url_key(url), domain_of(url), 0, 0, "", "sitemap_file")
