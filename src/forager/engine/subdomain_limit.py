"""Limits endless subdomains of one registrable domain: `a1.shop.example`, `a2.shop.example`, …

Subdomains found through links are added up to a maximum number; further ones stay unknown and are recorded as a trap of
the oldest one. Seeds and the registrable domain itself are always added. Queries the database only when a subdomain is
met for the first time.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from dataclasses import replace

from forager.db.types import Connection
from forager.domains import traps
from forager.domains.traps import SUBDOMAINS
from forager.frontier.models import Outcome
from forager.links.models import Discovery
from forager.urls.domain import registrable


class SubdomainLimit:
    def __init__(self, most: int) -> None:
        self._most = most

    async def admit(self, conn: Connection, strangers: Mapping[str, str]) -> dict[str, str]:
        """Returns those of the new domains (name → origin) that are within the limit."""
        parents = {name: registrable(name) for name in strangers}
        below = {parent for name, parent in parents.items() if name != parent}
        if not below:
            return dict(strangers)
        known = Counter(await traps.count_subdomains(conn, below))
        taken = {}
        for name in sorted(strangers):
            parent = parents[name]
            if name == parent or known[parent] < self._most:
                taken[name] = strangers[name]
                known[parent] += 1
        return taken

    async def note(self, conn: Connection, refused: Iterable[Discovery]) -> None:
        met: dict[str, tuple[int, str]] = {}
        for link in refused:
            parent = registrable(link.domain)
            met[parent] = met.get(parent, (0, ""))[0] + 1, link.url
        await traps.note_subdomains(conn, dict(sorted(met.items())))


def without_links(
    outcome: Outcome, refused: Set[bytes], rule: str = SUBDOMAINS, *, reason: str | None = None
) -> Outcome:
    """Returns the same visit without links that a trap rule, or another reason, excludes after all."""
    if not refused:
        return outcome
    kept = [link for link in outcome.selection.links if link.key not in refused]
    left_out = len(outcome.selection.links) - len(kept)
    if not left_out:
        return outcome
    reason = reason or f"trap:{rule}"
    dropped = {**outcome.selection.dropped, reason: outcome.selection.dropped.get(reason, 0) + left_out}
    return replace(outcome, selection=replace(outcome.selection, links=kept, dropped=dropped))
