"""Tries extractors on one page: no database, nothing is stored."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from forager.fetch.models import Fetched
from forager.parsing import page as parser
from forager.parsing.extractors.definition import Extractor
from forager.parsing.extractors.run import Extraction, extract
from forager.records.models import FoundRecord, pack


class Trial(NamedTuple):
    """What extractors found on one page."""

    url: str
    records: tuple[FoundRecord, ...]
    problems: tuple[str, ...]
    tried: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        records = [pack(record) | {"is_complete": record.is_complete} for record in self.records]
        return {"url": self.url, "records": records, "problems": list(self.problems), "tried": list(self.tried)}


def try_extractors(fetched: Fetched, extractors: Sequence[Extractor], *, robots_agent: str) -> Trial:
    """Reads a page and runs these extractors on it."""
    reading = parser.read(fetched, keyword_words=0, robots_agent=robots_agent)
    result: Extraction = extract(fetched, reading, extractors)
    return Trial(fetched.url, result.records, result.problems, result.tried)
