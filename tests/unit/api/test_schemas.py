"""The OpenAPI document is one that generators of clients understand."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from forager.api.app import create_app
from forager.config.settings import Settings

Schema = dict[str, Any]


@pytest.fixture(scope="module")
def document() -> Schema:
    return create_app(Settings()).openapi()


def bodies(document: Schema, method: str) -> Iterator[tuple[str, Schema]]:
    parts = document["components"]["schemas"]
    for path, operations in document["paths"].items():
        body = operations.get(method, {}).get("requestBody", {}).get("content", {}).get("application/json")
        if body is not None:
            yield path, parts[body["schema"]["$ref"].rpartition("/")[2]]


def test_a_patch_has_no_defaults(document: Schema) -> None:
    """A generated client sends them, and so changes what its user did not name."""
    told = [
        (path, name)
        for path, body in bodies(document, "patch")
        for name, value in body["properties"].items()
        if "'default':" in str(value)
    ]
    assert len(list(bodies(document, "patch"))) > 3
    assert told == []


def test_every_body_is_one_named_schema(document: Schema) -> None:
    assert all(body for method in ("post", "put", "patch", "delete") for _, body in bodies(document, method))


def test_names_of_schemas_are_names_of_classes(document: Schema) -> None:
    names = list(document["components"]["schemas"])
    assert [name for name in names if not name.isalnum() or not name[0].isupper()] == []
    titles = Counter(part.get("title") for part in document["components"]["schemas"].values())
    assert [title for title, number in titles.items() if title and number > 1] == []


def test_values_that_occur_twice_have_a_name(document: Schema) -> None:
    found: Counter[tuple[str, ...]] = Counter()

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            if isinstance(value.get("enum"), list):
                found[tuple(value["enum"])] += 1
            for inner in value.values():
                walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    walk(document)
    assert {values for values, number in found.items() if number > 1} == set()


def test_no_parameter_takes_null(document: Schema) -> None:
    parameters = [
        parameter
        for operations in document["paths"].values()
        for operation in operations.values()
        for parameter in operation.get("parameters", ())
    ]
    assert [each["name"] for each in parameters if {"type": "null"} in each["schema"].get("anyOf", ())] == []
