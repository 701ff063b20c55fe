"""Query parameters that several lists share, so that one name means one thing."""

from typing import Annotated

from fastapi import Query

from forager.api.types import Text

StatusCodeFilter = Annotated[
    str | None,
    Query(
        pattern="^[1-5]([0-9]{2}|[xX]{2})$",
        description="Only with this status code, or a class of them.",
        examples=["404", "5xx"],
    ),
]
UrlPartFilter = Annotated[
    Text | None, Query(min_length=1, max_length=500, description="A part of the URL, in any case.", examples=["/p/"])
]
SourceFilter = Annotated[
    Text | None,
    Query(max_length=100, description="Only of domains that were found so.", examples=["link", "seed", "tranco"]),
]
ParserFilter = Annotated[
    Text | None, Query(max_length=60, description="Only of domains that are set to this parser.", examples=["auto"])
]
