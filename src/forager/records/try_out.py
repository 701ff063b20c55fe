"""Tries extractors on one page: no database, nothing is stored."""

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple

from forager.config.settings import Settings
from forager.errors import DecodeError
from forager.fetch.models import Fetched
from forager.parsing import page as parser
from forager.parsing.extractors.by_model import ModelExtractor
from forager.parsing.extractors.definition import Extractor
from forager.parsing.extractors.run import extract
from forager.records.model_client import ModelAwayError, open_model
from forager.records.model_prompt import PageSource, read_records
from forager.records.models import FoundRecord, pack
from forager.storage.text import render
from forager.urls.domain import domain_of


class Trial(NamedTuple):
    """What extractors found on one page."""

    url: str
    records: tuple[FoundRecord, ...]
    problems: tuple[str, ...]
    tried: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        records = [pack(record) | {"is_complete": record.is_complete} for record in self.records]
        return {"url": self.url, "records": records, "problems": list(self.problems), "tried": list(self.tried)}


def try_extractors(fetched: Fetched, extractors: Sequence[Extractor | ModelExtractor], settings: Settings) -> Trial:
    """Reads a page and runs these extractors on it; those with `[model]` ask the model of the settings, once each."""
    reading = parser.read(fetched, keyword_words=0, robots_agent=settings.politeness.robots_agent)
    found = extract(fetched, reading, [each for each in extractors if isinstance(each, Extractor)])
    trial = Trial(fetched.url, found.records, found.problems, found.tried)
    by_model = [each for each in extractors if isinstance(each, ModelExtractor)]
    if by_model:
        text = render(fetched)[: settings.model.max_characters]
        trial = asyncio.run(_ask(trial, by_model, PageSource(fetched.url, reading.language, text), settings))
    return trial


async def _ask(trial: Trial, extractors: Sequence[ModelExtractor], page: PageSource, settings: Settings) -> Trial:
    domain = domain_of(page.url)
    wanted = [each for each in extractors if each.is_for(domain, page.url)]
    async with open_model(settings) as model:
        for each in wanted:
            try:
                answer = await model.ask(each, page.text)
            except (ModelAwayError, DecodeError) as error:
                trial = trial._replace(problems=(*trial.problems, f"{each.name}: {str(error).rstrip('.')}"))
                continue
            records = await asyncio.to_thread(read_records, each, answer.records, page)
            trial = trial._replace(records=(*trial.records, *records), tried=(*trial.tried, each.name))
    return trial
