"""Names of indexes and aliases on the search server. Pure.

forager-pages                        alias that is searched
forager-pages-20261116-1a2b3c        an index; forager-pages-20261116-1a2b3c-writes is the alias for writing to it
"""

from dataclasses import dataclass

from forager.search.mapping import PLURALS


@dataclass(frozen=True, slots=True)
class Names:
    prefix: str

    def searched(self, kind: str) -> str:
        return f"{self.prefix}{PLURALS[kind]}"

    def index(self, kind: str, build: str) -> str:
        return f"{self.searched(kind)}-{build}"

    def written(self, kind: str, build: str) -> str:
        return f"{self.index(kind, build)}-writes"
