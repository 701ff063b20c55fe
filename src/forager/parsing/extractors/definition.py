"""What an extractor file says: which pages it is for, and where the fields of their records are."""

import fnmatch
import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, model_validator

from forager.parsing.extractors import jsonpath
from forager.parsing.extractors.patterns import check_css, check_xpath, compile_pattern

HOWS = ("css", "xpath", "jsonpath", "regex", "meta")
CHECKS: Mapping[str, Callable[[str], object]] = {
    "css": check_css,
    "xpath": check_xpath,
    "jsonpath": jsonpath.parse,
    "regex": compile_pattern,
}
"""Each raises ValueError for an expression that is not understood."""
MOST_FIELDS = 100
MOST_SOURCES = 20
LONGEST = 1_000
NAME = r"^[a-z0-9][a-z0-9_-]{0,62}$"
FIELD_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")

FieldType = Literal["text", "number", "money", "date", "url", "image", "list", "flag"]
PageKind = Literal["any", "product", "article", "listing"]


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Expression = Annotated[str, Field(min_length=1, max_length=LONGEST)]
Globs = Annotated[tuple[Expression, ...], BeforeValidator(_as_list), Field(max_length=MOST_FIELDS)]


class Source(NamedTuple):
    """One way to find a field."""

    how: str
    """One of `HOWS`."""
    expression: str
    attribute: str | None
    is_html: bool
    """Whether a regex is matched against the HTML instead of the text."""


class Part(BaseModel):
    """A table of an extractor file."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SourceSpec(Part):
    """One source; each of the five ways may be given once, and exactly one must be."""

    css: Expression | None = None
    xpath: Expression | None = None
    jsonpath: Expression | None = None
    regex: Expression | None = None
    meta: Expression | None = None
    attribute: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    within: Literal["text", "html"] = "text"

    def sources(self) -> list[Source]:
        given = [(how, getattr(self, how)) for how in HOWS if getattr(self, how) is not None]
        return [Source(how, expression, self.attribute, self.within == "html") for how, expression in given]

    @model_validator(mode="after")
    def _check_expressions(self) -> Self:
        for source in self.sources():
            if check := CHECKS.get(source.how):
                try:
                    check(source.expression)
                except ValueError as error:
                    raise ValueError(f"{source.how} {source.expression!r}: {error}") from None
        if len(self.sources()) > 1:
            raise ValueError("it has several sources; write them as a list: sources = [{css = …}, {meta = …}]")
        return self


class Alternative(SourceSpec):
    """One element of `sources`."""

    @model_validator(mode="after")
    def _check_one(self) -> Self:
        if not self.sources():
            raise ValueError(f"it needs one of {', '.join(HOWS)}")
        return self


class FieldSpec(SourceSpec):
    """One field of a record."""

    alternatives: Annotated[tuple[Alternative, ...], Field(alias="sources", max_length=MOST_SOURCES)] = ()
    type: FieldType = "text"
    required: bool = False
    key: bool = False
    many: bool = False
    default: Any = None
    strip: Expression | None = None
    replace: tuple[tuple[Expression, str], ...] = ()

    @model_validator(mode="after")
    def _check_field(self) -> Self:
        if bool(self.sources()) == bool(self.alternatives):
            raise ValueError(f"it needs one of {', '.join(HOWS)}, or a list of them in `sources`")
        for pattern in [self.strip, *(pattern for pattern, _ in self.replace)]:
            if pattern is not None:
                compile_pattern(pattern)
        return self

    @cached_property
    def all_sources(self) -> tuple[Source, ...]:
        return tuple(self.sources() or [source for each in self.alternatives for source in each.sources()])


class MatchSpec(Part):
    """Which pages an extractor is for."""

    domains: Globs = ()
    url: Globs = ()
    page: PageKind = "any"
    selector: Expression | None = None

    @model_validator(mode="after")
    def _check_selector(self) -> Self:
        if self.selector is not None:
            check_css(self.selector)
        return self


class RecordSpec(Part):
    """What is found on a page: one record, or one for each element that `each` selects."""

    kind: Annotated[str, Field(pattern=NAME)]
    each: Expression | None = None

    @model_validator(mode="after")
    def _check_each(self) -> Self:
        if self.each is not None:
            CHECKS[how_of(self.each)](self.each)
        return self


def how_of(each: str) -> str:
    """Returns how an element that repeats is selected: paths begin with `$`, `/` or `.//`."""
    if each.startswith("$"):
        return "jsonpath"
    return "xpath" if each.startswith(("/", "./", "(")) else "css"


class Extractor(Part):
    """One extractor file."""

    name: Annotated[str, Field(pattern=NAME)]
    version: Annotated[int, Field(ge=1, le=2**31 - 1)] = 1
    description: Annotated[str, Field(max_length=LONGEST)] = ""
    match: MatchSpec = MatchSpec()
    record: RecordSpec
    fields: Annotated[dict[str, FieldSpec], Field(min_length=1, max_length=MOST_FIELDS)]

    _domains: re.Pattern[str] | None = PrivateAttr(None)
    _urls: re.Pattern[str] | None = PrivateAttr(None)

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        for name in self.fields:
            if not FIELD_NAME.fullmatch(name):
                raise ValueError(f"{name!r} is no name of a field; use letters, digits and _")
        return self

    def model_post_init(self, _context: Any) -> None:
        # fnmatch produces patterns without unbounded backtracking.
        self._domains = compile_globs([glob.lower().removeprefix("www.") for glob in self.match.domains])
        self._urls = compile_globs(list(self.match.url))

    @property
    def keys(self) -> list[str]:
        """Returns the fields that identify a record."""
        return [name for name, spec in self.fields.items() if spec.key]

    def is_for_domain(self, domain: str) -> bool:
        return self._domains is None or self._domains.match(domain) is not None

    def is_for_url(self, url: str) -> bool:
        return self._urls is None or self._urls.match(url) is not None


def compile_globs(globs: list[str]) -> re.Pattern[str] | None:
    """Returns one pattern for all of them; None, which matches everything, without any."""
    if not globs:
        return None
    return re.compile("|".join(fnmatch.translate(glob.replace("[", "[[]")) for glob in globs))
