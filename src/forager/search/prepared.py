"""A query with what the database knows of its words and filters. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from forager.search.dates import Span
from forager.search.models import Query
from forager.search.tsquery import (
    Marks,
    Spelling,
    date_marks,
    domain_mark,
    filter_marks,
    language_mark,
    span_of,
    stages,
    without_dates,
)
from forager.search.words import Field, Wanted


@dataclass(frozen=True, slots=True)
class Prepared:
    """A parsed query, ready to be searched by either backend."""

    wanted: Wanted
    spellings: Mapping[str, Spelling]
    """Configuration → the query of each leaf in it."""
    queries: Mapping[str, str]
    """The ranking query of each configuration that has one."""
    domains: Mapping[str, int]
    """Those named by `site:` and by the filter, as typed, where they are known."""
    now: datetime

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left to search for."""
        return not self.queries and not any(leaf.field for group in self.wanted.groups for leaf in group)

    @property
    def is_empty_query(self) -> bool:
        """Whether that is the fault of the query: in a fresh index there are no languages, and so no queries."""
        return self.is_empty and (not self.wanted.groups or bool(self.spellings))

    @property
    def words(self) -> set[str]:
        """Returns the wanted words as typed, and their stems in all configurations."""
        leaves = [leaf for group in self.wanted.groups for leaf in group if leaf.is_text]
        typed = {word for leaf in leaves for word in leaf.text.split()}
        return typed.union(*(spelling[leaf].lexemes for spelling in self.spellings.values() for leaf in leaves))

    @property
    def marks(self) -> Marks:
        return filter_marks(self.wanted, self.domains, self.now)

    def stages(self, query: Query, more_filters: Iterable[str] = (), *, is_tiered: bool) -> list[str]:
        """Returns the queries by which the index finds what is wanted, best first."""
        filters = [
            *([domain_mark(self.domains.get(query.domain))] if query.domain else []),
            *([language_mark(query.language)] if query.language else []),
            *more_filters,
        ]
        dates = date_marks(self.span(query), self.now)
        wanted = without_dates(self.wanted)
        return stages(wanted, self.spellings, self.marks, filters, dates=dates, is_tiered=is_tiered)

    def span(self, query: Query) -> Span:
        return span_of(self.wanted, self.now).intersect(Span(query.since))

    @property
    def problems(self) -> tuple[str, ...]:
        """Returns what is wrong with the filters in the query, in sentences."""
        sites = {
            leaf.text for leaf in self.wanted.filters if leaf.field is Field.SITE and leaf.text not in self.domains
        }
        return (
            *(f"{text} has no value that is understood and was searched as words." for text in self.wanted.problems),
            *(f"There is no domain {site}." for site in sorted(sites)),
        )
