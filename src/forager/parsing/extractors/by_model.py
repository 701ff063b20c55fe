"""An extractor file with the table `[model]`: a model reads the stored text of pages, instead of selectors their HTML.

It never runs in a parser process or while a page is visited: a job asks the model later.
"""

import re
from typing import Annotated, Self

from pydantic import Field, PrivateAttr, model_validator

from forager.parsing.extractors.definition import (
    FIELD_NAME,
    LONGEST,
    MOST_FIELDS,
    NAME,
    FieldType,
    Globs,
    Part,
    compile_globs,
)

LONGEST_INSTRUCTIONS = 10_000


class ModelSpec(Part):
    """What the model is told besides the fields."""

    instructions: Annotated[str, Field(min_length=1, max_length=LONGEST_INSTRUCTIONS)]


class ModelField(Part):
    """One field. It has no source: the model quotes the page."""

    type: FieldType = "text"
    description: Annotated[str, Field(max_length=LONGEST)] = ""
    required: bool = False
    key: bool = False


class ModelMatch(Part):
    """Which pages are sent: each of them may cost money, so they must be named."""

    domains: Globs = ()
    url: Globs = ()

    @model_validator(mode="after")
    def _check_named(self) -> Self:
        if not self.domains and not self.url:
            raise ValueError("name `domains` or `url`: each page that matches is sent to the model")
        return self


class ModelRecord(Part):
    kind: Annotated[str, Field(pattern=NAME)]
    many: bool = False
    """Whether a page has any number of them; otherwise the first counts."""


class ModelExtractor(Part):
    """One extractor file with `[model]`."""

    name: Annotated[str, Field(pattern=NAME)]
    version: Annotated[int, Field(ge=1, le=2**31 - 1)] = 1
    description: Annotated[str, Field(max_length=LONGEST)] = ""
    match: ModelMatch
    model: ModelSpec
    record: ModelRecord
    fields: Annotated[dict[str, ModelField], Field(min_length=1, max_length=MOST_FIELDS)]

    _domains: re.Pattern[str] | None = PrivateAttr(None)
    _urls: re.Pattern[str] | None = PrivateAttr(None)

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        for name in self.fields:
            if not FIELD_NAME.fullmatch(name):
                raise ValueError(f"{name!r} is no name of a field; use letters, digits and _")
        return self

    def model_post_init(self, _context: object) -> None:
        self._domains = compile_globs([glob.lower().removeprefix("www.") for glob in self.match.domains])
        self._urls = compile_globs(list(self.match.url))

    def is_for(self, domain: str, url: str) -> bool:
        is_domain = self._domains is None or self._domains.match(domain) is not None
        return is_domain and (self._urls is None or self._urls.match(url) is not None)
